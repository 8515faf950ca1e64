import { realClock } from '#base';
import { formatTime } from '#machinery';
import { ApiDriver, timed } from './api-driver.ts';
import { loadPod } from './load-pod.ts';
import { startSampan, temporaryDirectory } from './server-process.ts';

export const BIND_NODES = 5_000;
export const BIND_PODS = 5_000;
const CONCURRENCY = 32;

export interface BindRate {
  /** Pods created per second while nothing schedules them. */
  readonly created: number;
  /** Pods a second from the first create request until the last has its node. */
  readonly bound: number;
}

const PODS = '/api/v1/namespaces/default/pods';
/** In another namespace, so that they do not match lists of pods without a node. */
const NOBODYS_PODS = '/api/v1/namespaces/kube-public/pods';
/** The usual range has pod addresses for 256 nodes. */
const WIDE_RANGE = ['--controller-manager-arg', 'cluster-cidr=10.128.0.0/9'];

/** Simulated nodes: their kubelets start pods while others are still being bound. */
export function bindOnSimulatedNodes(): Promise<BindRate> {
  return bindRate(['--nodes', String(BIND_NODES), '--wait', '5m'], untilQuiet);
}

const EVENTS = '/api/v1/events?limit=1';
const QUIET_MS = 3_000;

/** Nodes record events as they become ready, which take a while to be written. */
async function untilQuiet(driver: ApiDriver): Promise<void> {
  for (let before = -1; ; ) {
    const { metadata } = await driver.read<{ metadata: { remainingItemCount?: number } }>(EVENTS);
    const count = metadata.remainingItemCount ?? 0;
    if (count === before) return;
    before = count;
    await realClock.sleep(QUIET_MS);
  }
}

/** Node objects without a kubelet, as in upstream's benchmark. */
export function bindOnNodeObjects(): Promise<BindRate> {
  return bindRate(['--nodes', '0'], async (driver) => {
    await timed(BIND_NODES, CONCURRENCY, (i) => createNode(driver, i));
  });
}

async function bindRate(args: readonly string[], prepare: (driver: ApiDriver) => Promise<void>): Promise<BindRate> {
  using directory = temporaryDirectory();
  await using server = await startSampan(directory.path, [...args, ...WIDE_RANGE]);
  using driver = new ApiDriver(server.port, CONCURRENCY);
  await prepare(driver);
  const nobodys = await createPods(driver, NOBODYS_PODS, { schedulerName: 'nobody' });
  const since = realClock.monotonic();
  await createPods(driver, PODS, {});
  await untilAllBound(driver, since + PATIENCE_MS);
  return { created: nobodys.perSecond, bound: (BIND_PODS * 1000) / (realClock.monotonic() - since) };
}

function createPods(driver: ApiDriver, path: string, spec: object) {
  return timed(BIND_PODS, CONCURRENCY, (i) => driver.send('POST', path, { body: loadPod(`p-${i}`, { spec }) }));
}

const PATIENCE_MS = 300_000;
const POLL_MS = 50;
const UNBOUND = `${PODS}?limit=1&fieldSelector=spec.nodeName%3D`;

async function untilAllBound(driver: ApiDriver, deadline: number): Promise<void> {
  for (;;) {
    const { items } = await driver.read<{ items: unknown[] }>(UNBOUND);
    if (items.length === 0) return;
    if (realClock.monotonic() > deadline) throw new Error('not all pods have a node');
    await realClock.sleep(POLL_MS);
  }
}

async function createNode(driver: ApiDriver, i: number): Promise<void> {
  const name = `node-${i}`;
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${i % 3}` };
  const capacity = { cpu: '32', memory: '256Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  const now = formatTime(realClock.now());
  const ready = { type: 'Ready', status: 'True', reason: 'Bench', message: '', lastHeartbeatTime: now, lastTransitionTime: now };
  const status = { capacity, allocatable: capacity, conditions: [ready] };
  await driver.send('POST', '/api/v1/nodes', { body: { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, status } });
  // New nodes have the not-ready taint.
  await driver.send('PATCH', `/api/v1/nodes/${name}`, { body: { spec: { taints: null } }, contentType: 'application/merge-patch+json' });
}
