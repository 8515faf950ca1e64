import { ApiDriver, type Timing, textOf, timed } from './api-driver.ts';
import { loadPod } from './load-pod.ts';
import { type ServerProcess, type Usage, usageOf } from './server-process.ts';
import { type TickWatchFigures, tickWatch } from './tick-watch.ts';

export const PODS = 5_000;
export const CONCURRENCY = 32;
export const WATCHERS = 100;
export const UPDATES = 200;
const LISTS = 10;
const LISTS_AT_ONCE = { count: 16, workers: 8 };
const PAGE = 500;
const PAGES = { count: 50, workers: 4 };
const SELECTED_LISTS = 20;
/** The number of pods with the label of the selector. */
const SELECTED = 10;
const SHARDS = PODS / SELECTED;
const PATCHES = 3_000;

export interface LoadFigures {
  readonly create: Timing;
  readonly get: Timing;
  readonly list: Timing;
  readonly listsAtOnce: Timing;
  readonly pages: Timing;
  readonly selected: Timing;
  readonly patchStatus: Timing;
  readonly watch: TickWatchFigures;
  readonly delete: Timing;
  /** What the run cost the server. */
  readonly cpuSeconds: number;
  readonly residentMiB: number;
  readonly peakMiB: number;
  readonly answers: TrivialAnswers;
}

/** The responses of this server, which the server of fixed bytes then sends too. */
export interface TrivialAnswers {
  /** A pod after its creation, and with a status. */
  readonly created: string;
  readonly patched: string;
  readonly items: { readonly all: number; readonly page: number; readonly selected: number };
}

const COLLECTION = '/api/v1/namespaces/default/pods';
const pod = (i: number) => `${COLLECTION}/p-${i}`;

/** The whole load, phase by phase: the requests that a busy API server gets. */
export async function runLoad(server: ServerProcess): Promise<LoadFigures> {
  using driver = new ApiDriver(server.port, CONCURRENCY);
  const before = usageOf(server.pid);
  const create = await timed(PODS, CONCURRENCY, (i) => driver.send('POST', COLLECTION, { body: podNumber(i) }));
  // Visits each pod once, in an order that no cache favours.
  const get = await timed(PODS, CONCURRENCY, (i) => driver.send('GET', pod((i * 7919) % PODS)));
  const created = textOf(await driver.send('GET', pod(0)));
  const lists = await runLists(driver);
  const patchStatus = await timed(PATCHES, CONCURRENCY, (i) => driver.send('PATCH', `${pod(i)}/status`, RUNNING));
  const patched = textOf(await driver.send('GET', pod(0)));
  const watch = await tickWatch(driver, { path: COLLECTION, watchers: WATCHERS, updates: UPDATES });
  const deleted = await timed(PODS, CONCURRENCY, (i) => driver.send('DELETE', pod(i), { body: { gracePeriodSeconds: 0 } }));
  const answers = { created, patched, items: { all: PODS, page: PAGE, selected: SELECTED } };
  return { create, get, ...lists, patchStatus, watch, delete: deleted, ...costSince(before, server), answers };
}

function podNumber(i: number) {
  // No client owns it: it is never updated.
  return loadPod(`p-${i}`, { labels: { shard: String(i % SHARDS) }, spec: { schedulerName: 'nobody' } });
}

const RUNNING = {
  body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
  contentType: 'application/strategic-merge-patch+json',
};

async function runLists(driver: ApiDriver): Promise<Pick<LoadFigures, 'list' | 'listsAtOnce' | 'pages' | 'selected'>> {
  const paths = { all: COLLECTION, page: `${COLLECTION}?limit=${PAGE}`, selected: `${COLLECTION}?labelSelector=app%3Dcart%2Cshard%3D7` };
  await expectItems(driver, paths.page, PAGE);
  await expectItems(driver, paths.selected, SELECTED);
  const list = await timed(LISTS, 1, () => driver.send('GET', paths.all));
  await expectItems(driver, paths.all, PODS);
  const listsAtOnce = await timed(LISTS_AT_ONCE.count, LISTS_AT_ONCE.workers, () => driver.send('GET', paths.all));
  const pages = await timed(PAGES.count, PAGES.workers, () => driver.send('GET', paths.page));
  const selected = await timed(SELECTED_LISTS, 1, () => driver.send('GET', paths.selected));
  return { list, listsAtOnce, pages, selected };
}

async function expectItems(driver: ApiDriver, path: string, count: number): Promise<void> {
  const { items } = await driver.read<{ items: unknown[] }>(path);
  if (items.length !== count) throw new Error(`${path} has ${items.length} items, not ${count}`);
}

function costSince(before: Usage, { pid }: ServerProcess): Usage {
  const after = usageOf(pid);
  return { ...after, cpuSeconds: after.cpuSeconds - before.cpuSeconds };
}
