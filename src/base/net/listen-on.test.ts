import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Logger, silentLogger } from '../logging/logger.ts';
import { listenOn } from './listen-on.ts';

function serverThatGreets(): Server {
  const server = createServer((socket) => socket.end('hello'));
  onTestFinished(() => void server.close());
  return server;
}

async function greeting(server: Server): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  const [text] = await once(socket, 'data');
  socket.destroy();
  return text as string;
}

test('a server that repeatedly fails to accept connections logs it and continues', async () => {
  const logged: object[] = [];
  const logger: Logger = { ...silentLogger, error: (_, fields = {}) => void logged.push(fields) };
  const server = serverThatGreets();
  await listenOn(server, { host: '127.0.0.1', port: 0 }, logger);
  const error = new Error('accept EMFILE');
  for (let i = 0; i < 3; i++) server.emit('error', error);
  expect(logged).toMatchObject([{ error }]);
  expect(await greeting(server)).toBe('hello');
});

test('listenOn rejects when the address is in use', async () => {
  const first = serverThatGreets();
  await listenOn(first, { host: '127.0.0.1', port: 0 }, silentLogger);
  const { port } = first.address() as AddressInfo;
  const second = createServer();
  await expect(listenOn(second, { host: '127.0.0.1', port }, silentLogger)).rejects.toThrow('EADDRINUSE');
});
