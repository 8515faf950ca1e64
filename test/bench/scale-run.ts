import { realClock } from '#base';
import { ApiDriver, timed } from './api-driver.ts';
import { loadPod } from './load-pod.ts';
import { type ServerProcess, startSampan, temporaryDirectory, usageOf } from './server-process.ts';

export interface ScaleShape {
  readonly nodes: number;
  readonly deployments: number;
  readonly replicas: number;
}

export interface ScaleFigures {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly kibibytesPerPod: number;
  readonly ownKibibytesPerPod: number;
  readonly settledPercent: number;
  /** Of a client that lists the deployments five times a second meanwhile. */
  readonly slowestMs: number;
}

export interface ScaleRun {
  readonly created: ScaleFigures;
  readonly available: ScaleFigures;
}

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const PODS = '/api/v1/namespaces/default/pods';
/** The usual range has pod addresses for 256 nodes, and 100,000 pods take 2 GiB of database. */
const LARGE = ['--controller-manager-arg', 'cluster-cidr=10.128.0.0/9', '--apiserver-arg', `quota-backend-bytes=${8 * 1024 ** 3}`];
const CONNECTIONS = 32;
const POLL_MS = 200;
const PATIENCE_MS = 1_800_000;
const SETTLE_MS = 15_000;
const WATCHED_MS = 20_000;

/** Deployments on simulated nodes, from their creation until all are available; and as many pods as objects only. */
export async function runScale(shape: ScaleShape): Promise<ScaleRun> {
  return {
    created: await measure(shape, (driver) =>
      timed(podsOf(shape), CONNECTIONS, (i) =>
        driver.send('POST', PODS, { body: loadPod(`p-${i}`, { spec: { schedulerName: 'nobody' } }) }),
      ),
    ),
    available: await measure(shape, async (driver) => {
      for (let i = 0; i < shape.deployments; i++) await driver.send('POST', DEPLOYMENTS, { body: deployment(`web-${i}`, shape.replicas) });
      await untilAvailable(driver, podsOf(shape));
    }),
  };
}

function podsOf({ deployments, replicas }: ScaleShape): number {
  return deployments * replicas;
}

async function measure(shape: ScaleShape, work: (driver: ApiDriver) => Promise<unknown>): Promise<ScaleFigures> {
  using directory = temporaryDirectory();
  await using server = await startSampan(directory.path, ['--nodes', String(shape.nodes), '--wait', '30m', ...LARGE]);
  using driver = new ApiDriver(server.port, CONNECTIONS);
  await realClock.sleep(SETTLE_MS);
  const before = usageOf(server.pid);
  const since = realClock.monotonic();
  const reader = new Reader(driver);
  await work(driver);
  const slowestMs = await reader.stop();
  const seconds = (realClock.monotonic() - since) / 1000;
  const cpuSeconds = usageOf(server.pid).cpuSeconds - before.cpuSeconds;
  const settledPercent = await settledLoad(server);
  const after = usageOf(server.pid);
  const perPod = (mebibytes: number) => (mebibytes * 1024) / podsOf(shape);
  const kibibytesPerPod = perPod(after.residentMiB - before.residentMiB);
  const ownKibibytesPerPod = perPod(after.ownMiB - before.ownMiB);
  return { seconds, cpuSeconds, kibibytesPerPod, ownKibibytesPerPod, settledPercent, slowestMs };
}

async function settledLoad({ pid }: ServerProcess): Promise<number> {
  await realClock.sleep(SETTLE_MS);
  const before = usageOf(pid).cpuSeconds;
  await realClock.sleep(WATCHED_MS);
  return ((usageOf(pid).cpuSeconds - before) * 100_000) / WATCHED_MS;
}

/** A user who lists deployments meanwhile. */
class Reader {
  readonly #done: Promise<void>;
  #slowestMs = 0;
  #isStopped = false;

  constructor(driver: ApiDriver) {
    this.#done = this.#read(driver);
  }

  async #read(driver: ApiDriver): Promise<void> {
    while (!this.#isStopped) {
      const startMs = realClock.monotonic();
      await driver.read(DEPLOYMENTS);
      this.#slowestMs = Math.max(this.#slowestMs, realClock.monotonic() - startMs);
      await realClock.sleep(POLL_MS);
    }
  }

  async stop(): Promise<number> {
    this.#isStopped = true;
    await this.#done;
    return this.#slowestMs;
  }
}

async function untilAvailable(driver: ApiDriver, pods: number): Promise<void> {
  const deadline = realClock.monotonic() + PATIENCE_MS;
  for (;;) {
    const { items } = await driver.read<{ items: { status?: { availableReplicas?: number } }[] }>(DEPLOYMENTS);
    const available = items.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0);
    if (available === pods) return;
    if (realClock.monotonic() > deadline) throw new Error(`only ${available} of ${pods} replicas became available`);
    await realClock.sleep(POLL_MS);
  }
}

function deployment(name: string, replicas: number): object {
  const labels = { app: name };
  const container = { name: 'main', image: 'scale:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
}
