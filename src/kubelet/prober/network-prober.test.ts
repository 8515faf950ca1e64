import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { realClock, seededRandom, VirtualClock } from '#base';
import { SimulatedRuntime } from '../cri/simulated/simulated-runtime.ts';
import { networkProber } from './network-prober.ts';

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
    return networkProber({ runtime, clock: realClock }).probe(target, { type: 'readiness', probe, timeoutMs: 5000 });
  };
  const httpHeaders = [{ name: 'X-From', value: 'probe' }];

  it('passes by a status below 400, to a port by its name, with its headers', async () => {
    expect(await ask({ httpGet: { port: 'web', path: '/ok', httpHeaders } })).toMatchObject({ passed: true });
  });

  it('fails with another HTTP status, which it names', async () => {
    expect(await ask({ httpGet: { port, path: '/' } })).toEqual({ passed: false, output: 'HTTP probe failed with statuscode: 503' });
  });

  it('passes when a connection can be opened, and fails when not', async () => {
    expect(await ask({ tcpSocket: { port } })).toMatchObject({ passed: true });
    expect(await ask({ tcpSocket: { port: 1 } })).toMatchObject({
      passed: false,
      output: 'dial tcp 127.0.0.1:1: connect: connection refused',
    });
  });

  it("fails in upstream's words where another protocol is spoken", async () => {
    expect(await ask({ httpGet: { port, scheme: 'HTTPS' } })).toEqual({
      passed: false,
      output: `Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`,
    });
    expect(await ask({ grpc: { port } })).toEqual({
      passed: false,
      output: `timeout: failed to connect service "127.0.0.1:${port}" within 5s: context deadline exceeded`,
    });
  });

  /** A server that writes these bytes to every connection. */
  async function withRawServer<T>(answer: string, use: (rawPort: number) => Promise<T>): Promise<T> {
    const raw = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(answer));
    });
    raw.listen(0, '127.0.0.1');
    await once(raw, 'listening');
    try {
      return await use((raw.address() as AddressInfo).port);
    } finally {
      raw.close();
    }
  }

  it.each([
    ['hello\r\n', 'net/http: HTTP/1.x transport connection broken: malformed HTTP response "hello"'],
    ['220 mail ready\r\n', 'net/http: HTTP/1.x transport connection broken: malformed HTTP status code "mail"'],
    ['SPEAK/1.0 200 OK\r\n\r\n', 'net/http: HTTP/1.x transport connection broken: malformed HTTP version "SPEAK/1.0"'],
  ])("fails in upstream's words where the answer is %j", async (answer, expected) => {
    await withRawServer(answer, async (rawPort) => {
      expect(await ask({ httpGet: { port: rawPort } })).toEqual({
        passed: false,
        output: `Get "http://127.0.0.1:${rawPort}/": ${expected}`,
      });
    });
  });

  it('passes with a warning where a body follows an answer that has none', async () => {
    await withRawServer('HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody', async (rawPort) => {
      const output = 'Probe terminated redirects, Response body: ';
      expect(await ask({ httpGet: { port: rawPort } })).toEqual({ passed: true, isWarning: true, output });
    });
  });

  it('fails where an answer redirects to what is no address', async () => {
    await withRawServer('HTTP/1.1 301 Moved\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n', async (rawPort) => {
      expect(await ask({ httpGet: { port: rawPort, path: '/a' } })).toEqual({
        passed: false,
        output: `Get "http://127.0.0.1:${rawPort}/a": failed to parse Location header "http://[::1": parse "http://[::1": missing ']' in host`,
      });
    });
  });

  it('names the whole path where it fails, with its fragment', async () => {
    expect(await ask({ httpGet: { port: 1, path: '/a b#c' } })).toEqual({
      passed: false,
      output: 'Get "http://127.0.0.1:1/a%20b#c": dial tcp 127.0.0.1:1: connect: connection refused',
    });
  });

  it.each([
    ['HTTP', 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'],
    ['HTTPS', 'net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)'],
  ])('fails after its time where a server of %s says nothing', async (scheme, problem) => {
    const sockets = new Set<Socket>();
    const silent = createTcpServer((socket) => {
      sockets.add(socket.on('error', () => {}));
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const probe = { httpGet: { port: (silent.address() as AddressInfo).port, scheme } };
    const target = { containerId: 'c1', container: { name: 'c' }, podIp: '127.0.0.1' };
    const answer = await networkProber({ runtime, clock: realClock }).probe(target, { type: 'liveness', probe, timeoutMs: 300 });
    for (const socket of sockets) socket.destroy();
    silent.close();
    const url = `${scheme.toLowerCase()}://127.0.0.1:${probe.httpGet.port}/`;
    expect(answer).toEqual({ passed: false, output: `Get "${url}": ${problem}` });
  });

  it('errs where the body of an answer breaks off', async () => {
    await withRawServer('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort', async (rawPort) => {
      await expect(ask({ httpGet: { port: rawPort } })).rejects.toMatchObject({ message: 'unexpected EOF', state: 'failure' });
    });
  });

  it('of a lifecycle hook succeeds with any answer, and falls back from HTTPS to HTTP', async () => {
    const target = { containerId: 'c1', container: { name: 'c' }, podIp: '127.0.0.1' };
    const send = (action: core.HTTPGetAction) =>
      networkProber({ runtime, clock: realClock }).httpGet(action, target, new AbortController().signal);
    expect(await send({ port, path: '/' })).toEqual({});
    expect(await send({ port, path: '/', scheme: 'HTTPS' })).toEqual({ fellBackFrom: `127.0.0.1:${port}` });
    await expect(send({ port: 1, path: '/x' })).rejects.toThrow(
      'Get "http://127.0.0.1:1/x": dial tcp 127.0.0.1:1: connect: connection refused',
    );
  });

  it("fails in upstream's words where a gRPC server does not answer in time", async () => {
    const silent = createHttp2Server().on('stream', () => {});
    const sessions = new Set<ServerHttp2Session>();
    silent.on('session', (session) => sessions.add(session));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const target = { containerId: 'c1', container: { name: 'c' }, podIp: '127.0.0.1' };
    const probe = { grpc: { port: (silent.address() as AddressInfo).port } };
    const answer = await networkProber({ runtime, clock: realClock }).probe(target, { type: 'liveness', probe, timeoutMs: 1000 });
    expect(answer).toEqual({ passed: false, output: 'timeout: health rpc did not complete within 1s' });
    for (const session of sessions) session.destroy();
    silent.close();
  });

  it('cannot be made to a port that has no name', async () => {
    await expect(ask({ httpGet: { port: 'other' } })).rejects.toThrow('strconv.Atoi: parsing "other": invalid syntax');
    await expect(ask({})).rejects.toThrow('missing probe handler');
  });
});
