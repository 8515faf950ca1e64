import path from 'node:path';
import { core } from '#api';
import { realClock } from '#base';
import { openRealKubelet, type RealKubelet } from '../integration/kubelet/real-kubelet.ts';

export { whyNoContainers } from '../integration/kubelet/real-kubelet.ts';

/** Pods in sequence, then many in parallel, then the idle cost. */
const SINGLE_PODS = 10;
export const MANY_PODS = 50;
const SETTLE_MS = 5_000;
export const IDLE_SECONDS = 20;
const POLL_MS = 5;
const COMMAND = ['sleep', '100000'];

export interface PodCosts {
  /** From the request to a running container, for pods started in sequence. */
  readonly oneMs: number;
  readonly manyMs: number;
  /** CPU time of this process, per pod started in parallel. */
  readonly cpuMsPerPod: number;
}

export interface RealPodRun {
  readonly direct: PodCosts;
  readonly kubelet: PodCosts;
  /** In cores: this process without pods, and with many running pods. */
  readonly idlePercent: { readonly empty: number; readonly full: number };
}

type StartPods = (names: readonly string[]) => Promise<void>;

/** The same pods by CRI calls alone, and by a kubelet with its API server in this process, on one containerd. */
export async function runRealPods(): Promise<RealPodRun> {
  await using node = await openRealKubelet({ maxPods: 1000 });
  const empty = await idlePercent();
  // A kubelet would remove pods that it did not start as leftovers.
  await node.stop();
  const direct = await costsOf((names) => startDirectly(node, names));
  await removeDirect(node);
  await node.start();
  const kubelet = await costsOf((names) => startByKubelet(node, names));
  return { direct, kubelet, idlePercent: { empty, full: await idlePercent() } };
}

async function costsOf(start: StartPods): Promise<PodCosts> {
  await start(['first']);
  const times: number[] = [];
  for (let i = 0; i < SINGLE_PODS; i++) times.push(await timeOf(() => start([`single-${i}`])));
  const before = process.cpuUsage();
  const manyMs = await timeOf(() => start(Array.from({ length: MANY_PODS }, (_, i) => `many-${i}`)));
  const { user, system } = process.cpuUsage(before);
  return { oneMs: times.sort((a, b) => a - b)[SINGLE_PODS >> 1]!, manyMs, cpuMsPerPod: (user + system) / 1000 / MANY_PODS };
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const since = realClock.monotonic();
  await work();
  return realClock.monotonic() - since;
}

async function idlePercent(): Promise<number> {
  await realClock.sleep(SETTLE_MS);
  const before = process.cpuUsage();
  await realClock.sleep(IDLE_SECONDS * 1000);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6 / IDLE_SECONDS / 0.01;
}

const NAMESPACES = { namespaceOptions: { network: 'pod', pid: 'container', ipc: 'pod' } } as const;

async function startDirectly({ runtime, directory, cgroup }: RealKubelet, names: readonly string[]): Promise<void> {
  const image = (await runtime.imageStatus({ image: 'busybox:1' }))?.id ?? '';
  const startOne = async (name: string) => {
    const sandboxConfig = {
      ...{ metadata: { name, namespace: 'direct', uid: name, attempt: 0 }, hostname: name, labels: {}, annotations: {} },
      ...{ logDirectory: path.join(directory, 'direct', name), linux: { cgroupParent: `/${cgroup}/direct`, securityContext: NAMESPACES } },
    };
    const config = {
      ...{ metadata: { name: 'c', attempt: 0 }, image: { image }, command: COMMAND, args: [], envs: [], mounts: [], logPath: 'c.log' },
      ...{ labels: {}, annotations: {}, linux: { resources: {}, securityContext: NAMESPACES } },
    };
    const sandbox = await runtime.runPodSandbox(sandboxConfig);
    await runtime.startContainer(await runtime.createContainer(sandbox, { config, sandboxConfig }));
  };
  await Promise.all(names.map(startOne));
}

async function removeDirect({ runtime }: RealKubelet): Promise<void> {
  for (const { id } of await runtime.listPodSandbox()) {
    await runtime.stopPodSandbox(id);
    await runtime.removePodSandbox(id);
  }
}

async function startByKubelet(node: RealKubelet, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => node.create(name, { command: COMMAND })));
  const pending = new Set(names);
  while (pending.size > 0) {
    await realClock.sleep(POLL_MS);
    const { items } = await node.client.of(core.Pod).list({ namespace: 'default' });
    for (const { metadata, status } of items) if (status?.phase === 'Running') pending.delete(metadata.name ?? '');
  }
}
