import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import packet from 'dns-packet';
import { expect, test } from 'vitest';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client, type Transport } from '#client';
import { startDns } from './start-dns.ts';

/** An API server that does not respond. */
const silent: Transport = {
  isLocal: false,
  request: ({ signal }) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true })),
  text: () => new Promise(() => {}),
  async *stream() {},
  watch: () => ({ [Symbol.dispose]: () => {} }),
  async [Symbol.asyncDispose]() {},
};

test('cluster DNS is alive but not ready, and answers SERVFAIL, until all services are listed', async () => {
  const anywhere = '127.0.0.1:0';
  const addresses = { healthBindAddress: anywhere, readyBindAddress: anywhere, metricsBindAddress: anywhere };
  const deps = { clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() };
  const server = startDns({ ...addresses, listen: ['127.0.0.1'], port: 0 }, { ...deps, client: new Client(silent) });
  try {
    await expect.poll(() => server.port).toBeGreaterThan(0);
    const status = async (name: string) => (await fetch(`http://127.0.0.1:${server.healthPorts[name]}/${name}`)).status;
    expect([await status('health'), await status('ready'), await status('metrics')]).toEqual([200, 503, 200]);
    const socket = createSocket('udp4');
    const questions = [{ type: 'A' as const, name: 'web.default.svc.cluster.local', class: 'IN' as const }];
    socket.send(packet.encode({ type: 'query', id: 5, questions }), server.port, '127.0.0.1');
    const [reply] = (await once(socket, 'message')) as [Buffer];
    socket.close();
    expect(packet.decode(reply)).toMatchObject({ id: 5, rcode: 'SERVFAIL', answers: [] });
  } finally {
    await server[Symbol.asyncDispose]();
  }
});
