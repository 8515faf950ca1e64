import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { dialUpgrade } from './dial-upgrade.ts';

test('a connection that is reset before anybody uses it is closed, and nothing else', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\r\n', () => socket.resetAndDestroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/exec`);
    const { connection } = await dialUpgrade(url, { headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' } });
    connection.resume();
    if (!connection.closed) await new Promise((resolve) => connection.once('close', resolve));
    expect(connection.destroyed).toBe(true);
  } finally {
    server.close();
  }
});
