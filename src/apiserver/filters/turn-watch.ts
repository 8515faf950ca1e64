import type { EventLoopWatch } from '#base';
import type { Filter } from './chain.ts';

/** Lets the log of a blocked event loop name the request. */
export function watchTurns(watch: EventLoopWatch): Filter {
  return (request, next) => {
    watch.enter(request);
    return next(request);
  };
}
