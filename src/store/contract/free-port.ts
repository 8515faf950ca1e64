import { createServer } from 'node:net';
import { systemRandom } from '#base';

/** Below the range from which Linux takes ports for outgoing connections: nobody else gets one between the look and its use. */
const FIRST_PORT = 16_000;
const LAST_PORT = 32_000;

/** A loopback port that nobody listens on, drawn by lot so that tests that run side by side rarely pick the same one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + systemRandom.int(LAST_PORT - FIRST_PORT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
