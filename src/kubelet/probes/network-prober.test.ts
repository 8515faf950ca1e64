import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { realClock, seededRandom, VirtualClock } from '#base';
import { SimulatedRuntime } from '../cri/simulated/simulated-runtime.ts';
import { askByNetwork } from './network-prober.ts';

describe('a probe over the network', () => {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/ok' && request.headers['x-from'] === 'probe' ? 302 : 503).end();
  });
  let port = 0;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => void server.close());

  const runtime = new SimulatedRuntime({}, { clock: new VirtualClock(), random: seededRandom(1) });
  const ask = (probe: core.Probe) => {
    const container = { name: 'c', ports: [{ name: 'web', containerPort: port }] };
    const target = { containerId: 'c1', container, podIp: '127.0.0.1' };
    return askByNetwork(target, { type: 'readiness', probe, timeoutMs: 5000 }, { runtime, clock: realClock });
  };
  const httpHeaders = [{ name: 'X-From', value: 'probe' }];

  it('passes by a status below 400, to a port by its name, with its headers', async () => {
    expect(await ask({ httpGet: { port: 'web', path: '/ok', httpHeaders } })).toMatchObject({ passed: true });
  });

  it('fails by another status, and says which', async () => {
    expect(await ask({ httpGet: { port, path: '/' } })).toEqual({ passed: false, output: 'HTTP probe failed with statuscode: 503' });
  });

  it('passes when a connection can be opened, and fails when not', async () => {
    expect(await ask({ tcpSocket: { port } })).toMatchObject({ passed: true });
    expect(await ask({ tcpSocket: { port: 1 } })).toMatchObject({ passed: false, output: expect.stringContaining('ECONNREFUSED') });
  });

  it('cannot be made to a port that has no name', async () => {
    await expect(ask({ httpGet: { port: 'other' } })).rejects.toThrow(`couldn't find port: "other"`);
    await expect(ask({})).rejects.toThrow('missing probe handler');
  });
});
