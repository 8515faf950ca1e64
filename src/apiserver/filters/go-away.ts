import type { Random } from '#base';
import type { Filter } from './chain.ts';

/** Sends GOAWAY for one HTTP/2 request in `1 / chance`, so that clients are balanced across servers. */
export function goAway(chance: number, random: Random): Filter {
  return (request, next) => {
    if (random.float() < chance) request.leaveConnection?.();
    return next(request);
  };
}
