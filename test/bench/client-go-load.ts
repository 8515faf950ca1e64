import { core } from '#api';
import { encodeEnvelope, encodeProtobuf, type JsonObject } from '#machinery';
import { type Timing, timed } from './api-driver.ts';
import { type Body, ClientGoDriver, PROTOBUF } from './client-go-driver.ts';
import { loadPod } from './load-pod.ts';
import { type ServerProcess, usageOf } from './server-process.ts';

export const CLIENT_GO = { pods: 5_000, connections: 4, workers: 32, informers: 50, slowInformers: 5, patches: 1_000 };
const { pods: PODS, workers: WORKERS } = CLIENT_GO;
const COLLECTION = '/api/v1/namespaces/default/pods';
const INFORMER = `${COLLECTION}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
/** How long a slow informer pauses after each chunk. */
const SLOW_PAUSE_MS = 2;

export interface ClientGoFigures {
  readonly create: Timing;
  readonly get: Timing;
  readonly list: Timing;
  readonly pages: Timing;
  readonly gzip: Timing;
  readonly informersMs: number;
  readonly informersMiB: number;
  readonly patchStatus: Timing;
  readonly delete: Timing;
  readonly cpuSeconds: number;
  readonly answers: { readonly created: string; readonly count: number };
}

/** The requests of controllers, schedulers and operators that use client-go. */
export async function runClientGoLoad(server: ServerProcess): Promise<ClientGoFigures> {
  await using driver = await ClientGoDriver.connect(server.port, CLIENT_GO.connections);
  const before = usageOf(server.pid);
  const create = await timed(PODS, WORKERS, (i) => driver.send('POST', COLLECTION, { body: podNumber(i) }));
  const get = await timed(PODS, WORKERS, (i) => driver.send('GET', `${COLLECTION}/p-${(i * 7919) % PODS}`));
  const created = Buffer.concat((await driver.send('GET', `${COLLECTION}/p-0`)).chunks).toString('base64');
  const list = await timed(10, 1, () => driver.send('GET', `${COLLECTION}?resourceVersion=0`));
  const pages = await timed(50, 4, () => driver.send('GET', `${COLLECTION}?limit=500`));
  const gzip = await timed(8, 2, () => driver.send('GET', COLLECTION, { accept: 'application/json', gzip: true }));
  const idle = usageOf(server.pid);
  const informers = Array.from({ length: CLIENT_GO.informers }, () => driver.informer(INFORMER, 0));
  const slow = Array.from({ length: CLIENT_GO.slowInformers }, () => driver.informer(INFORMER, SLOW_PAUSE_MS));
  const allSynced = (some: typeof informers) => Promise.all(some.map(async ({ synced }) => expectAll(await synced)));
  const { perSecond } = await timed(1, 1, () => allSynced(informers));
  await allSynced(slow);
  const informersMiB = usageOf(server.pid).residentMiB - idle.residentMiB;
  const patchStatus = await timed(CLIENT_GO.patches, WORKERS, (i) =>
    driver.send('PATCH', `${COLLECTION}/p-${i}/status`, { body: RUNNING }),
  );
  for (const informer of [...informers, ...slow]) {
    informer.synced.catch(() => {});
    informer[Symbol.dispose]();
  }
  const deleted = await timed(PODS, WORKERS, (i) => driver.send('DELETE', `${COLLECTION}/p-${i}`, { body: AT_ONCE }));
  const cpuSeconds = usageOf(server.pid).cpuSeconds - before.cpuSeconds;
  const answers = { created, count: PODS };
  return { create, get, list, pages, gzip, informersMs: 1000 / perSecond, informersMiB, patchStatus, delete: deleted, cpuSeconds, answers };
}

function expectAll(count: number): void {
  if (count !== PODS) throw new Error(`an informer has ${count} pods, not ${PODS}`);
}

function podNumber(i: number): Body {
  const pod = loadPod(`p-${i}`, { spec: { schedulerName: 'nobody' } }) as unknown as JsonObject;
  return { bytes: encodeEnvelope({ apiVersion: 'v1', kind: 'Pod' }, encodeProtobuf(core.Pod, pod)), contentType: PROTOBUF };
}

const RUNNING: Body = {
  bytes: Buffer.from(JSON.stringify({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } })),
  contentType: 'application/strategic-merge-patch+json',
};
const AT_ONCE: Body = { bytes: Buffer.from('{"gracePeriodSeconds":0}'), contentType: 'application/json' };
