import dgram from 'node:dgram';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realClock, seededRandom, silentLogger } from '#base';
import type { Frontend, Protocol, ServiceRules } from '../rules/service-rules.ts';
import { UserspaceApplier } from './userspace-applier.ts';

describe('services from user space', () => {
  const closing: (() => void)[] = [];
  let applier: UserspaceApplier;
  beforeEach(() => {
    applier = new UserspaceApplier(
      { nodePortAddresses: ['127.0.0.1'] },
      { clock: realClock, random: seededRandom(3), logger: silentLogger },
    );
  });
  afterEach(async () => {
    await applier.remove();
    for (const close of closing.splice(0)) close();
  });

  async function tcpServer(name: string): Promise<number> {
    const server = net.createServer((socket) => socket.end(name));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    return (server.address() as net.AddressInfo).port;
  }
  async function udpServer(name: string): Promise<number> {
    const socket = dgram.createSocket('udp4').on('message', (_, from) => socket.send(name, from.port, from.address));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    closing.push(() => socket.close());
    return socket.address().port;
  }
  /** A port without a listener. */
  async function freePort(): Promise<number> {
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as net.AddressInfo;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return port;
  }
  function rules(
    frontend: Partial<Frontend> & { port: number },
    ports: readonly number[],
    added: { protocol?: Protocol; affinitySeconds?: number } = {},
  ): ServiceRules {
    const endpoints = ports.map((port) => ({ address: '127.0.0.1', port, isLocal: true }));
    const complete: Frontend = { kind: 'nodePort', endpoints, masquerade: 'always', ...frontend };
    return { ports: [{ id: 'd/s', namespace: 'd', service: 's', family: 4, protocol: 'tcp', frontends: [complete], ...added }] };
  }
  function ask(port: number, host = '127.0.0.1'): Promise<string> {
    return new Promise((resolve) => {
      let text = '';
      const socket = net.connect(port, host);
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      socket.on('end', () => resolve(text));
    });
  }

  it('forwards connections to every endpoint, past those that do not answer', async () => {
    const port = await freePort();
    applier.set('d/s', rules({ port }, [await tcpServer('a'), await tcpServer('b'), await freePort()]));
    await applier.sync();
    const seen = new Set<string>();
    for (let i = 0; i < 20; i++) seen.add(await ask(port));
    expect([...seen].sort()).toEqual(['a', 'b']);
  });

  it('keeps a client with its endpoint where the service asks for it', async () => {
    const port = await freePort();
    applier.set('d/s', rules({ port }, [await tcpServer('a'), await tcpServer('b')], { affinitySeconds: 60 }));
    await applier.sync();
    const seen = new Set<string>();
    for (let i = 0; i < 20; i++) seen.add(await ask(port));
    expect(seen.size).toBe(1);
  });

  it('ends connections where no endpoint is left, and listens no longer once the service is gone', async () => {
    const port = await freePort();
    applier.set('d/s', rules({ port }, []));
    await applier.sync();
    expect(await ask(port)).toBe('ECONNRESET');
    applier.set('d/s', undefined);
    await applier.sync();
    expect(await ask(port)).toBe('ECONNREFUSED');
  });

  it('forwards datagrams and their answers, and leaves an endpoint that is gone', async () => {
    const port = await freePort();
    const [a, b] = [await udpServer('a'), await udpServer('b')];
    const client = dgram.createSocket('udp4');
    closing.push(() => client.close());
    const answer = () =>
      new Promise<string>((resolve) => {
        client.once('message', (message) => resolve(message.toString()));
        client.send('?', port, '127.0.0.1');
      });
    for (const [target, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      applier.set('d/s', rules({ port }, [target], { protocol: 'udp' }));
      await applier.sync();
      expect([await answer(), await answer()]).toEqual([name, name]);
    }
  });

  it('serves node ports at the addresses of the machine that are in the ranges, and at no others', async () => {
    const ranged = new UserspaceApplier(
      { nodePortAddresses: ['127.0.0.2/31', 'fd00::/8'] },
      { ...{ clock: realClock, random: seededRandom(3), logger: silentLogger }, machineAddresses: () => ['127.0.0.1', '127.0.0.3', '::1'] },
    );
    const port = await freePort();
    try {
      ranged.set('d/s', rules({ port }, [await tcpServer('a')]));
      await ranged.sync();
      expect(await ask(port, '127.0.0.3')).toBe('a');
      expect(await ask(port, '127.0.0.1')).toBe('ECONNREFUSED');
      expect(ranged.describe()).toHaveLength(1);
    } finally {
      await ranged.remove();
    }
  });

  it('turns away clients outside of the source ranges of a load balancer', async () => {
    const port = await freePort();
    const target = await tcpServer('a');
    for (const [range, answer] of [
      ['10.0.0.0/8', 'ECONNRESET'],
      ['127.0.0.0/8', 'a'],
    ]) {
      applier.set('d/s', rules({ port, address: '127.0.0.1', kind: 'loadBalancer', sourceRanges: [range!] }, [target]));
      await applier.sync();
      expect(await ask(port)).toBe(answer);
    }
  });

  it('keeps the datagrams of a client with an endpoint where the service asks for it', async () => {
    const port = await freePort();
    applier.set('d/s', rules({ port }, [await udpServer('a'), await udpServer('b')], { protocol: 'udp', affinitySeconds: 60 }));
    await applier.sync();
    const seen = new Set<string>();
    for (let i = 0; i < 10; i++) {
      // Another port each time, hence another flow.
      const client = dgram.createSocket('udp4');
      const answer = new Promise<string>((resolve) => client.once('message', (message) => resolve(message.toString())));
      client.send('?', port, '127.0.0.1');
      seen.add(await answer);
      client.close();
    }
    expect(seen.size).toBe(1);
  });

  it('goes on with the rest where an address is not of this machine', async () => {
    const port = await freePort();
    const other = rules({ port, address: '203.0.113.1', kind: 'clusterIP' }, []);
    applier.set('d/a', { ports: other.ports.map((rule) => ({ ...rule, id: 'd/a' })) });
    applier.set('d/s', rules({ port }, [await tcpServer('a')]));
    await applier.sync();
    expect(await ask(port)).toBe('a');
  });
});
