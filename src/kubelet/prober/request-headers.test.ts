import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { realClock, seededRandom, VirtualClock } from '#base';
import { SimulatedRuntime } from '../cri/simulated/simulated-runtime.ts';
import { networkProber } from './network-prober.ts';

const runtime = new SimulatedRuntime({}, { clock: new VirtualClock(), random: seededRandom(1) });
const prober = networkProber({ runtime, clock: realClock });

interface Exchange {
  readonly answer?: string;
  readonly isHook?: boolean;
}

/** The lines of the last request that a server receives; its port is written as PORT. */
async function linesOf(action: Omit<core.HTTPGetAction, 'port'>, { answer, isHook = false }: Exchange = {}): Promise<readonly string[]> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      requests.push(data.toString('latin1'));
      const text = requests.length === 1 ? answer : undefined;
      socket.end(text?.replaceAll('PORT', String(port)) ?? 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target = { containerId: 'c1', container: { name: 'c' }, podIp: '127.0.0.1' };
  if (isHook) await prober.httpGet({ ...action, port }, target, AbortSignal.timeout(5000));
  else await prober.probe(target, { type: 'readiness', probe: { httpGet: { ...action, port } }, timeoutMs: 5000 });
  server.close();
  return (requests.at(-1) ?? '').trimEnd().replaceAll(String(port), 'PORT').split('\r\n');
}

describe('the request of an HTTP probe', () => {
  it('has the header lines of upstream, in its order', async () => {
    expect(await linesOf({ path: '/x?a=b' })).toEqual([
      ...['GET /x?a=b HTTP/1.1', 'Host: 127.0.0.1:PORT', 'User-Agent: kube-probe/1.36', 'Accept: */*', 'Connection: close'],
    ]);
  });

  it('has its own headers, sorted, with canonical names', async () => {
    const httpHeaders = Object.entries({ 'x-b': '2', HOST: 'foo.bar', accept: 'text/plain', 'USER-agent': 'me', 'X-A': '1' });
    const list = [...httpHeaders, ['x-b', '3'] as const].map(([name, value]) => ({ name, value }));
    expect(await linesOf({ httpHeaders: list })).toEqual([
      ...['GET / HTTP/1.1', 'Host: foo.bar', 'User-Agent: me', 'Accept: text/plain', 'X-A: 1', 'X-B: 2', 'X-B: 3', 'Connection: close'],
    ]);
  });

  it('leaves out headers that are empty by intent', async () => {
    const httpHeaders = ['Accept', 'User-Agent'].map((name) => ({ name, value: '' }));
    expect(await linesOf({ httpHeaders })).toEqual(['GET / HTTP/1.1', 'Host: 127.0.0.1:PORT', 'Connection: close']);
  });

  it('keeps its host over a redirect to a path, not to a URL', async () => {
    const httpHeaders = [{ name: 'Host', value: 'foo.bar' }];
    const redirect = (location: string) => `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
    expect(await linesOf({ httpHeaders }, { answer: redirect('/next') })).toContain('Host: foo.bar');
    expect(await linesOf({ httpHeaders }, { answer: redirect('http://127.0.0.1:PORT/next') })).toContain('Host: 127.0.0.1:PORT');
  });
});

describe('the request of an HTTP hook', () => {
  it('has the header lines of upstream', async () => {
    expect(await linesOf({}, { isHook: true })).toEqual([
      ...['GET / HTTP/1.1', 'Host: 127.0.0.1:PORT', 'User-Agent: kube-lifecycle/1.36', 'Accept: */*', 'Accept-Encoding: gzip'],
    ]);
  });
});
