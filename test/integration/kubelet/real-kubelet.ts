import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { core } from '#api';
import { createLogger, GrpcClient, MetricsRegistry, realClock, silentLogger, stopAll, systemRandom } from '#base';
import { type ClusterConfig, startCluster } from '#cluster';
import { GrpcRuntime, importArchive, type LinuxKubelet, type LinuxKubeletConfig, noStreaming, startLinuxKubelet } from '#kubelet';
import { openMemoryStore } from '#store';
import { openCgroupTree } from '../../../src/kubelet/cgroups/cgroup-tree.ts';
import { busyboxArchive } from '../../../src/kubelet/containerd/busybox-archive.test-data.ts';
import { makeContainerdSite, whyNoContainers } from '../../../src/kubelet/containerd/containerd.test-setup.ts';

export { whyNoContainers };

const NODE = 'machine';
const WAIT_MS = 40_000;
const POLL_MS = 100;

/** For benchmarks too, which have no test context. */
async function waitUntil(condition: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = realClock.monotonic() + WAIT_MS;
  while (!(await isSo())) {
    if (realClock.monotonic() > deadline) throw new Error(`${condition}: not within ${WAIT_MS / 1000} s`);
    await realClock.sleep(POLL_MS);
  }
}

export type PodDraft = Partial<core.PodSpec> & { readonly command?: readonly string[] };

/** A cluster in this process with one real kubelet on its own containerd, with `busybox:1` loaded. */
export async function openRealKubelet(config: Partial<LinuxKubeletConfig> = {}, clusterConfig: ClusterConfig = {}) {
  const parts: AsyncDisposable[] = [];
  try {
    return await openParts(parts, config, clusterConfig);
  } catch (error) {
    await stopAll(parts);
    throw error;
  }
}

async function openParts(parts: AsyncDisposable[], config: Partial<LinuxKubeletConfig>, clusterConfig: ClusterConfig) {
  const defer = (close: () => Promise<void>) => void parts.push({ [Symbol.asyncDispose]: close });
  const use = <T extends AsyncDisposable>(part: T): T => {
    parts.push(part);
    return part;
  };
  const clock = realClock;
  const write = (line: string) => void process.stderr.write(`${line}\n`);
  const logger = process.env.VERBOSE ? createLogger({ clock, level: 'info', format: 'human', write }) : silentLogger;
  const deps = { clock, random: systemRandom, logger, metrics: new MetricsRegistry() };
  const directory = await mkdtemp(path.join(os.tmpdir(), 'real-kubelet-'));
  defer(() => rm(directory, { recursive: true, force: true }));
  const cgroup = `sampan-test-${randomBytes(4).toString('hex')}`;
  const tree = await openCgroupTree();
  defer(() => tree.remove(cgroup));
  const site = use(await makeContainerdSite());
  const containerd = use(site.start());
  await containerd.ready;
  const load = async (...names: readonly string[]) => {
    using images = new GrpcClient({ endpoint: containerd.endpoint, clock });
    const archive = path.join(directory, 'image.tar');
    await writeFile(archive, await busyboxArchive(...names));
    await importArchive(images, createReadStream(archive), { architecture: site.config.architecture, now: clock.now() });
  };
  await load();
  const store = openMemoryStore({ clock });
  defer(() => store.close());
  const cluster = use(startCluster(clusterConfig, { ...deps, store }));
  await cluster.ready;
  const runtime = new GrpcRuntime({ endpoint: containerd.endpoint }, { ...deps, streaming: noStreaming });
  defer(async () => runtime[Symbol.dispose]());
  const own = { nodeName: NODE, nodeIps: ['192.0.2.7'], rootDir: path.join(directory, 'kubelet'), cgroupRoot: `/${cgroup}` };
  const logs = { podLogsDir: path.join(directory, 'pod-logs'), containerLogsDir: path.join(directory, 'container-logs') };
  const full = { ...own, ...logs, ...config };
  await mkdir(full.rootDir, { recursive: true });
  const client = cluster.clientAs({ name: `system:node:${NODE}`, groups: ['system:nodes', 'system:authenticated'] }, 'kubelet');
  let kubelet: LinuxKubelet | undefined;
  const start = async (overrides: Partial<LinuxKubeletConfig> = {}) => {
    kubelet = startLinuxKubelet({ ...full, ...overrides }, { ...deps, metrics: new MetricsRegistry(), client, runtime });
    await kubelet.ready;
  };
  const stop = async () => {
    await kubelet?.[Symbol.asyncDispose]();
    kubelet = undefined;
  };
  const pods = cluster.client.of(core.Pod);
  const key = (name: string) => ({ name, namespace: 'default' });
  /** Pods end before their node, so that their mounts and cgroups are removed. */
  const deleteAll = async () => {
    for (const { metadata } of (await pods.list()).items) await pods.delete(metadata, { gracePeriodSeconds: 0 }).catch(() => {});
    await waitUntil('no sandbox is left', async () => (await runtime.listPodSandbox()).length === 0);
    await kubelet?.idle();
  };
  defer(stop);
  await start();
  const accounts = cluster.client.of(core.ServiceAccount);
  await waitUntil('there is a service account', async () => (await accounts.list({ namespace: 'default' })).items.length === 1);
  return {
    ...{ client: cluster.client, runtime, directory, cgroup, tree, site, containerd, nodeName: NODE, start, stop, load },
    get kubelet() {
      return kubelet as LinuxKubelet;
    },
    async create(name: string, { command = ['sleep', '100000'], ...spec }: PodDraft = {}): Promise<core.Pod> {
      const containers = spec.containers ?? [{ name: 'c', image: 'busybox:1', command: [...command] }];
      const defaults = {
        nodeName: NODE,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 0,
        restartPolicy: 'Never',
      };
      return pods.create({ metadata: key(name), spec: { ...defaults, ...spec, containers } } as never);
    },
    pod: (name: string) => pods.get(key(name)),
    async phase(name: string): Promise<string> {
      return (await pods.get(key(name))).status?.phase ?? '';
    },
    async run(name: string, draft: PodDraft = {}): Promise<core.Pod> {
      await this.create(name, draft);
      await waitUntil(`pod ${name} runs`, async () => (await this.phase(name)) === 'Running');
      return pods.get(key(name));
    },
    /** The output of a command in a running pod. */
    async exec(name: string, ...command: readonly string[]): Promise<string> {
      const { containerStatuses } = (await pods.get(key(name))).status ?? {};
      const id = containerStatuses?.[0]?.containerID?.replace(/^containerd:\/\//, '') ?? '';
      const { stdout } = await runtime.execSync(id, { command: [...command], timeoutMs: 10_000 });
      return Buffer.from(stdout).toString().trim();
    },
    node: () => cluster.client.of(core.Node).get({ name: NODE }),
    async events(name: string): Promise<readonly string[]> {
      const { items } = await cluster.client.of(core.Event).list();
      return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason, message }) => `${reason}: ${message}`);
    },
    async [Symbol.asyncDispose]() {
      try {
        await deleteAll();
      } finally {
        await stopAll(parts);
      }
    },
  };
}

export type RealKubelet = Awaited<ReturnType<typeof openRealKubelet>>;
