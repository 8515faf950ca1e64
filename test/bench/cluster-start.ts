import { realClock } from '#base';
import { ApiDriver, textOf } from './api-driver.ts';
import { type ServerProcess, startSampan, temporaryDirectory } from './server-process.ts';

export interface StartFigures {
  /** From the start of the process until the cluster is ready: with an empty data directory, and with the data of the first start. */
  readonly firstStartMs: number;
  readonly secondStartMs: number;
  /** From the create request of the cluster's first pod to the event that shows it running. */
  readonly firstPodMs: number;
  /** From a create request to its event, without a scheduler and a kubelet. */
  readonly firstEventMs: number;
}

/** A user's first minutes: start, run a pod, stop, start again. */
export async function runStarts(): Promise<StartFigures> {
  using directory = temporaryDirectory();
  const first = await firstStart(directory.path);
  await using again = await startSampan(directory.path);
  await withDriver(again, expectReady);
  return { ...first, secondStartMs: again.readyMs };
}

async function firstStart(directory: string): Promise<Omit<StartFigures, 'secondStartMs'>> {
  await using server = await startSampan(directory);
  return await withDriver(server, async (driver) => {
    await expectReady(driver);
    const firstPodMs = await untilSeen(driver, { resource: 'pods', body: POD, sign: '"phase":"Running"' });
    const firstEventMs = await untilSeen(driver, { resource: 'configmaps', body: CONFIG_MAP, sign: '"name":"first"' });
    return { firstStartMs: server.readyMs, firstPodMs, firstEventMs };
  });
}

async function withDriver<T>(server: ServerProcess, use: (driver: ApiDriver) => Promise<T>): Promise<T> {
  using driver = new ApiDriver(server.port, 4);
  return await use(driver);
}

interface Node {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

/** A start counts only if the cluster is usable: server and node are ready, and pods can be created. */
async function expectReady(driver: ApiDriver): Promise<void> {
  const readyz = textOf(await driver.send('GET', '/readyz'));
  if (readyz !== 'ok') throw new Error(`/readyz answered ${readyz}`);
  const { items } = await driver.read<{ items: readonly Node[] }>('/api/v1/nodes');
  const ready = items.filter(({ status }) => status.conditions.some(({ type, status: state }) => type === 'Ready' && state === 'True'));
  if (ready.length !== 1) throw new Error(`${ready.length} nodes are Ready, not 1`);
  await driver.send('GET', '/api/v1/namespaces/default/serviceaccounts/default');
}

const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'first' }, spec: { containers: [{ name: 'main', image: 'web:1' }] } };
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first' }, data: { greeting: 'hello' } };

interface Sighting {
  readonly resource: string;
  readonly body: object;
  /** The text that the event must contain. */
  readonly sign: string;
}

/** Milliseconds from the create request until a watcher received the expected text. */
async function untilSeen(driver: ApiDriver, { resource, body, sign }: Sighting): Promise<number> {
  const path = `/api/v1/namespaces/default/${resource}`;
  let seenAt: (at: number) => void = () => {};
  const seen = new Promise<number>((resolve) => {
    seenAt = resolve;
  });
  let text = '';
  using _watch = await driver.watch(`${path}?watch=1&timeoutSeconds=60`, (chunk) => {
    text += chunk;
    if (text.includes(sign)) seenAt(realClock.monotonic());
  });
  const since = realClock.monotonic();
  await driver.send('POST', path, { body });
  return (await within(seen, `${resource}: ${sign}`)) - since;
}

const PATIENCE_MS = 30_000;

async function within<T>(work: Promise<T>, outcome: string): Promise<T> {
  const giveUp = new AbortController();
  const late = realClock.sleep(PATIENCE_MS, giveUp.signal).then(() => Promise.reject(new Error(`nobody saw ${outcome}`)));
  try {
    return await Promise.race([work, late]);
  } finally {
    giveUp.abort();
    late.catch(() => {});
  }
}
