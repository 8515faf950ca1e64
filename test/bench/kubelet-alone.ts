import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { GrpcClient, realClock } from '#base';
import { importArchive } from '#kubelet';
import { openCgroupTree } from '../../src/kubelet/cgroups/cgroup-tree.ts';
import { busyboxArchive } from '../../src/kubelet/containerd/busybox-archive.test-data.ts';
import { makeContainerdSite } from '../../src/kubelet/containerd/containerd.test-setup.ts';
import { ApiDriver } from './api-driver.ts';
import { startSampan, stop, TOKEN, temporaryDirectory, usageOf } from './server-process.ts';

export const ALONE_PODS = 50;
export const ALONE_IDLE_SECONDS = 20;
const NODE = 'alone';
const SETTLE_MS = 5_000;
const POLL_MS = 100;
const PATIENCE_MS = 180_000;
const PODS = '/api/v1/namespaces/default/pods';

/** The cost of a kubelet alone: its process has no API server and no client. */
export interface KubeletCost {
  readonly cpuMsPerPod: number;
  readonly idlePercent: number;
  readonly residentMiB: number;
}

/** `sampan kubelet` in its own process, over TLS to a cluster without nodes, with its own containerd. */
export async function runKubeletAlone(): Promise<KubeletCost> {
  using directory = temporaryDirectory();
  await using site = await makeContainerdSite();
  await using containerd = site.start();
  await containerd.ready;
  using images = new GrpcClient({ endpoint: containerd.endpoint, clock: realClock });
  await importArchive(images, Readable.from([await busyboxArchive()]), {
    architecture: site.config.architecture,
    now: realClock.now(),
  });
  await using cluster = await startSampan(directory.path, ['--nodes', '0', '--store', 'memory']);
  using driver = new ApiDriver(cluster.port, 8);
  const cgroup = `sampan-bench-${randomBytes(4).toString('hex')}`;
  await using _cgroup = deferred(async () => (await openCgroupTree()).remove(cgroup));
  const kubelet = await startKubelet(directory.path, { cgroup, endpoint: containerd.endpoint, port: cluster.port });
  await using _kubelet = deferred(() => stop(kubelet));
  await using _pods = deferred(() => removePods(driver, join(directory.path, 'kubelet/pods')));
  const pid = kubelet.pid as number;
  await until('the node is Ready', async () => isReady(await driver.read<NodeList>('/api/v1/nodes')));
  await startPods(driver, ['first']);
  const before = usageOf(pid);
  await startPods(
    driver,
    Array.from({ length: ALONE_PODS }, (_, i) => `many-${i}`),
  );
  const cpuMsPerPod = ((usageOf(pid).cpuSeconds - before.cpuSeconds) * 1000) / ALONE_PODS;
  await realClock.sleep(SETTLE_MS);
  const idle = usageOf(pid);
  await realClock.sleep(ALONE_IDLE_SECONDS * 1000);
  const after = usageOf(pid);
  return { cpuMsPerPod, idlePercent: ((after.cpuSeconds - idle.cpuSeconds) * 100) / ALONE_IDLE_SECONDS, residentMiB: after.residentMiB };
}

function deferred(close: () => Promise<void>): AsyncDisposable {
  return { [Symbol.asyncDispose]: close };
}

interface KubeletSite {
  readonly cgroup: string;
  readonly endpoint: string;
  /** Of the API server. */
  readonly port: number;
}

async function startKubelet(directory: string, { cgroup, endpoint, port }: KubeletSite) {
  const at = (name: string) => join(directory, name);
  const cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'c', cluster }], users: [{ name: 'u', user: { token: TOKEN } }] },
    ...{ contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }], 'current-context': 'x' },
  };
  const configuration = {
    ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
    ...{ cgroupRoot: `/${cgroup}`, evictionHard: {}, containerRuntimeEndpoint: endpoint, podLogsDir: at('pod-logs') },
    ...{ port: await freePort(), healthzPort: 0, maxPods: 1000, failSwapOn: false },
  };
  mkdirSync(at('kubelet'));
  writeFileSync(at('kubelet.kubeconfig'), JSON.stringify(kubeconfig));
  writeFileSync(at('kubelet.yaml'), JSON.stringify(configuration));
  const args = ['kubelet', '--kubeconfig', at('kubelet.kubeconfig'), '--config', at('kubelet.yaml'), '--root-dir', at('kubelet')];
  const program = [resolve(process.cwd(), 'dist/sampan.js'), ...args, '--hostname-override', NODE, '--node-ip', '192.0.2.7'];
  return spawn(process.execPath, program, { stdio: ['ignore', 'ignore', openSync(at('kubelet.log'), 'w')] });
}

/** Another kubelet may run on this machine. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

interface NodeList {
  readonly items: readonly { readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] } }[];
}

function isReady({ items }: NodeList): boolean {
  return items.some(({ status }) => status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True'));
}

interface PodList {
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly status: { readonly phase: string } }[];
}

async function startPods(driver: ApiDriver, names: readonly string[]): Promise<void> {
  const containers = [{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'] }];
  const spec = { nodeName: NODE, automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, containers };
  await Promise.all(names.map((name) => driver.send('POST', PODS, { body: { metadata: { name }, spec } })));
  const podNames = new Set(names);
  await until('the pods run', async () => {
    const { items } = await driver.read<PodList>(PODS);
    return items.filter(({ metadata, status }) => podNames.has(metadata.name) && status.phase === 'Running').length === podNames.size;
  });
}

/** With their mounts and cgroups, which only their kubelet removes. */
async function removePods(driver: ApiDriver, podsDirectory: string): Promise<void> {
  await driver.send('DELETE', PODS);
  await until('nothing of the pods is left', async () => !existsSync(podsDirectory) || readdirSync(podsDirectory).length === 0);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = realClock.monotonic() + PATIENCE_MS;
  while (!(await isSo())) {
    if (realClock.monotonic() > deadline) throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s`);
    await realClock.sleep(POLL_MS);
  }
}
