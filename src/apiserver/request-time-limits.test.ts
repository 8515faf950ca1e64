import { once } from 'node:events';
import http2 from 'node:http2';
import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { AdmissionPlugin } from './admission/admission.ts';
import { MAPS, send, serve } from './serving.test-setup.ts';

const MAP = '{"metadata":{"name":"a"}}';

/** Blocks every create until released. */
function gate() {
  let open: () => void = () => {};
  let entered: () => void = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  const isEntered = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const plugin: AdmissionPlugin = {
    name: 'Gate',
    operations: ['CREATE'],
    async admit() {
      entered();
      await isOpen;
    },
  };
  return { plugin, open, isEntered };
}

describe('request timeouts', () => {
  test('a request that takes too long gets 504', async () => {
    const requestGate = gate();
    const server = await serve({ requestTimeoutMs: 100 }, [requestGate.plugin]);
    const { code, body } = await send(server, MAPS, { method: 'POST', body: MAP });
    expect(code).toBe(504);
    expect(JSON.parse(body)).toMatchObject({
      kind: 'Status',
      reason: 'Timeout',
      message: 'Timeout: request did not complete within the allotted timeout',
    });
    requestGate.open();
    expect(await send(server, '/livez')).toMatchObject({ code: 200, body: 'ok' });
    expect((await send(server, '/metrics')).body).toMatch(
      /apiserver_request_terminations_total\{verb="POST".*resource="configmaps".*code="504"\} 1/,
    );
  });

  test('the timeout parameter shortens the deadline; an invalid duration is 400', async () => {
    const requestGate = gate();
    const server = await serve({}, [requestGate.plugin]);
    expect(await send(server, `${MAPS}?timeout=50ms`, { method: 'POST', body: MAP })).toMatchObject({ code: 504 });
    requestGate.open();
    const { code, body } = await send(server, `${MAPS}?timeout=soon`);
    expect(code).toBe(400);
    expect(JSON.parse(body).message).toBe('invalid timeout specified in the request URL - time: invalid duration "soon"');
  });

  test('connections with incomplete headers or bodies are closed', async () => {
    const server = await serve({ requestTimeoutMs: 200 });
    const closed = async (text: string) => {
      const socket = tls.connect({ host: '127.0.0.1', port: server.port!, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
      let answer = '';
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString();
      });
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      socket.write(text);
      await once(socket, 'close');
      return answer;
    };
    expect(await closed(`POST ${MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 504 /);
    expect(await closed('GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ')).toMatch(/^HTTP\/1\.1 408 /);
    expect(await closed('')).toMatch(/^HTTP\/1\.1 408 |^$/);
  });

  test('an HTTP/2 stream with an incomplete body is closed, its connection is not', async () => {
    const server = await serve({ requestTimeoutMs: 200 });
    const session = http2.connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    const stream = session.request({ ':path': MAPS, ':method': 'POST' }, { endStream: false });
    stream.on('error', () => {});
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(504);
    const next = session.request({ ':path': '/livez' });
    expect((await once(next, 'response'))[0]).toMatchObject({ ':status': 200 });
    await once(stream.resume(), 'close');
    session.destroy();
  });
});

describe('graceful shutdown', () => {
  test('fails readyz first, finishes requests and ends watches cleanly', async () => {
    const requestGate = gate();
    const server = await serve({ shutdownDelayMs: 2_000 }, [requestGate.plugin]);
    const session = http2.connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    const watch = session.request({ ':path': `${MAPS}?watch=1` });
    await once(watch, 'response');
    const ended = once(watch.resume(), 'end');
    const creating = send(server, MAPS, { method: 'POST', body: MAP });
    await requestGate.isEntered;
    const stopped = server[Symbol.asyncDispose]();
    const { code, body } = await send(server, '/readyz');
    expect({ code, body }).toEqual({ code: 500, body: expect.stringContaining('[-]shutdown failed: reason withheld') });
    expect(await send(server, '/livez')).toMatchObject({ code: 200 });
    requestGate.open();
    expect(await creating).toMatchObject({ code: 201 });
    await ended;
    expect(watch.rstCode).toBe(0);
    await stopped;
    await expect(send(server, '/livez')).rejects.toThrow();
    session.destroy();
  });
});
