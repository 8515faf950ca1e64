import type { ListenOptions, Server } from 'node:net';
import type { Logger } from '../logging/logger.ts';
import { realClock } from '../time/clock.ts';

/** A failing accept fails for every waiting connection. */
const QUIET_MS = 10_000;

/**
 * Listens; rejects on failure. A listening server also reports errors when it cannot accept a connection (no memory, no file descriptors): they are
 * logged, and the server continues. Without a listener each would be an uncaught exception.
 */
export function listenOn(server: Server, where: ListenOptions, logger: Logger): Promise<void> {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const report = (error: Error) => {
    if (realClock.monotonic() - loggedAt < QUIET_MS) return;
    loggedAt = realClock.monotonic();
    logger.error('a server cannot accept connections', { address: server.address(), error });
  };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      server.on('error', report);
      resolve();
    });
  });
}
