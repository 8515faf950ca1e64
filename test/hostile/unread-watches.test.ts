import { once } from 'node:events';
import http2 from 'node:http2';
import tls, { type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { realClock } from '#base';
import { ApiDriver, timed } from '../bench/api-driver.ts';
import { loadPod } from '../bench/load-pod.ts';
import { startSampan, TOKEN, temporaryDirectory, usageOf } from '../bench/server-process.ts';

const PODS = 5_000;
const CLIENTS = 200;
const ALLOWED_MIB = 200;
const COLLECTION = '/api/v1/namespaces/default/pods';
const INFORMER = `${COLLECTION}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

/** A client over HTTP/1.1 that sends its request and never reads. */
async function unreadHttp1(port: number): Promise<Disposable> {
  const socket: TLSSocket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.pause();
  socket.write(`GET ${INFORMER} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`);
  return { [Symbol.dispose]: () => void socket.destroy() };
}

/** A client over HTTP/2 that grants a window of a megabyte and never reads. */
async function unreadHttp2(port: number, accept: string): Promise<Disposable> {
  const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, settings: { initialWindowSize: 1 << 20 } });
  session.on('error', () => {});
  await once(session, 'connect');
  const stream = session.request({ ':path': INFORMER, accept, authorization: `Bearer ${TOKEN}` });
  stream.on('error', () => {});
  return { [Symbol.dispose]: () => session.destroy() };
}

/** Counts the events of the initial state up to its end. */
async function stateOf(driver: ApiDriver): Promise<number> {
  let events = 0;
  let rest = '';
  let resolve: () => void = () => {};
  const ended = new Promise<void>((done) => {
    resolve = done;
  });
  using _watch = await driver.watch(INFORMER, (chunk) => {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop()!;
    for (const line of lines)
      if (line.startsWith('{"type":"ADDED"')) events++;
      else if (line.includes('initial-events-end')) resolve();
  });
  await ended;
  return events;
}

test('clients that never read cost little memory, and others are served as before', { timeout: 400_000 }, async () => {
  using directory = temporaryDirectory();
  await using server = await startSampan(directory.path, ['--nodes', '0']);
  using driver = new ApiDriver(server.port, 16);
  await timed(PODS, 16, (i) => driver.send('POST', COLLECTION, { body: loadPod(`p-${i}`, { spec: { schedulerName: 'nobody' } }) }));
  // Warm-up, so that shared data exists.
  expect(await stateOf(driver)).toBe(PODS);
  await driver.send('GET', COLLECTION);
  const before = usageOf(server.pid).residentMiB;
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const clients: Disposable[] = [];
  try {
    for (let i = 0; i < CLIENTS; i++)
      clients.push(await (i % 2 === 0 ? unreadHttp1(server.port) : unreadHttp2(server.port, i % 4 === 1 ? protobuf : 'application/json')));
    await realClock.sleep(3_000);
    // Changes for all of these watches, none of which reads them.
    await timed(300, 16, (i) => driver.send('PATCH', `${COLLECTION}/p-${i}/status`, RUNNING));
    expect(await stateOf(driver)).toBe(PODS);
    expect(usageOf(server.pid).residentMiB - before).toBeLessThan(ALLOWED_MIB);
  } finally {
    for (const client of clients) client[Symbol.dispose]();
  }
});

const RUNNING = {
  body: { status: { phase: 'Running' } },
  contentType: 'application/strategic-merge-patch+json',
};
