import { createServer } from 'node:net';
import { systemRandom } from '#base';

/** Below Linux's ephemeral ports, so that no outgoing connection takes the port between check and use. */
const FIRST_PORT = 16_000;
const LAST_PORT = 32_000;

/** A free loopback port, chosen at random so that parallel tests rarely pick the same one. */
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
