import { createSocket, type Socket } from 'node:dgram';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { type Logger, MetricsRegistry, silentLogger } from '#base';
import { DnsMetrics } from '../dns-metrics.ts';
import type { Resolver } from '../resolver.ts';
import { listenUdp } from './udp-server.ts';

const resolver = { resolve: async (bytes: Buffer) => bytes } as unknown as Resolver;

test('a forged datagram from port 0 is dropped, and others are answered', async () => {
  let socket: Socket | undefined;
  const onSocket = (message: unknown) => {
    socket ??= (message as { socket: Socket }).socket;
  };
  const logged: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void logged.push(message) };
  subscribe('udp.socket', onSocket);
  await using server = await listenUdp(
    { host: '127.0.0.1', port: 0 },
    { resolver, logger, metrics: new DnsMetrics(new MetricsRegistry(), 53) },
  );
  unsubscribe('udp.socket', onSocket);
  socket!.emit('message', Buffer.from('a'), { address: '127.0.0.1', port: 0, family: 'IPv4', size: 1 });
  const client = createSocket('udp4');
  client.send('b', server.port, '127.0.0.1');
  expect(String((await once(client, 'message'))[0])).toBe('b');
  client.close();
  expect(logged).toEqual([]);
});
