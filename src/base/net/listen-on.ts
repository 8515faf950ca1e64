import type { ListenOptions, Server } from 'node:net';
import type { Logger } from '../logging/logger.ts';
import { realClock } from '../time/clock.ts';

/** While accepting fails, it fails for every connection that waits. */
const QUIET_MS = 10_000;

/**
 * Listens; rejects if that fails. A server that listens reports errors too, when it cannot accept a connection (no memory, no file
 * descriptors): these are logged, and the server goes on. Without a listener each of them would be an uncaught exception.
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
