import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { runProgram } from '#base';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`the search for leaks of a real node is skipped: ${reason}`);

const PODS = Number(process.env.SAMPAN_LEAK_PODS ?? 16);
const AT_ONCE = 8;
/** One of busybox, one of the sandbox image. */
const IMAGE_LAYERS = 2;
const POLL = { timeout: 120_000, interval: 100 };

const volumes = [
  { name: 'disk', emptyDir: {} },
  { name: 'memory', emptyDir: { medium: 'Memory' } },
  { name: 'config', configMap: { name: 'settings' } },
];
const containers = [
  {
    ...{ name: 'c', image: 'busybox:1', command: ['sh', '-c', 'echo started; sleep 100000'] },
    volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })),
  },
  { name: 'ends', image: 'busybox:1', command: ['true'] },
];

async function runBatch(node: RealKubelet, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => node.create(name, { containers, volumes, restartPolicy: 'OnFailure' } as never)));
  for (const name of names) await expect.poll(() => node.phase(name), POLL).toBe('Running');
}

async function deleteBatch(node: RealKubelet, names: readonly string[]): Promise<void> {
  const pods = node.client.of(core.Pod);
  await Promise.all(names.map((name) => pods.delete({ name, namespace: 'default' })));
  await expect.poll(async () => (await pods.list()).items.length, POLL).toBe(0);
}

/** The network namespaces that the runtime holds. */
function networkNamespaces({ site }: RealKubelet): Promise<readonly string[]> {
  return readdir(path.join(site.config.runDirectory, 'state/io.containerd.grpc.v1.cri/netns')).catch(() => []);
}

/** The snapshots of images and containers, with any snapshotter. */
async function snapshots({ site }: RealKubelet): Promise<number> {
  const root = path.join(site.config.dataDirectory, 'root');
  const snapshotters = (await readdir(root)).filter((name) => name.startsWith('io.containerd.snapshotter.v1.'));
  const lists = await Promise.all(snapshotters.map((name) => readdir(path.join(root, name, 'snapshots')).catch(() => [])));
  return lists.flat().length;
}

/** Shims have the runtime's directory in their arguments; containers are in pod cgroups. */
async function processes({ site, cgroup }: RealKubelet): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const lines = await Promise.all(pids.map(async (pid) => ({ cmdline: await read(pid, 'cmdline'), cgroups: await read(pid, 'cgroup') })));
  const isShim = (cmdline: string) => cmdline.includes('containerd-shim') && cmdline.includes(site.config.runDirectory);
  return lines.filter(({ cmdline, cgroups }) => isShim(cmdline) || cgroups.includes(cgroup)).map(({ cmdline }) => cmdline);
}

/** Everything outside the API that pods could leave behind. */
async function remains(node: RealKubelet) {
  const { directory, cgroup, tree, site, runtime } = node;
  const list = (name: string) => readdir(path.join(directory, name)).catch(() => []);
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((line) => line.includes(directory));
  const links = await runProgram('ip', ['-n', site.netns, '-o', 'link', 'show', 'type', 'veth']);
  const cgroups = await Promise.all(['burstable', 'besteffort', ''].map((name) => tree.children(path.join(cgroup, 'kubepods', name))));
  return {
    sandboxes: (await runtime.listPodSandbox()).length,
    containers: (await runtime.listContainers()).length,
    namespaces: await networkNamespaces(node),
    mounts: mounts.length,
    links: links.split('\n').filter((line) => line !== '').length,
    cgroups: [...cgroups.flat(), ...(await unifiedCgroups(cgroup))].filter((name) => name.startsWith('pod')),
    logs: [...(await list('pod-logs')), ...(await list('container-logs'))],
    podDirectories: await list('kubelet/pods'),
    processes: await processes(node),
    snapshots: await snapshots(node),
  };
}

/** On hybrid hierarchies runc uses both cgroup versions. */
async function unifiedCgroups(cgroup: string): Promise<readonly string[]> {
  const list = (name: string) => readdir(path.join('/sys/fs/cgroup/unified', cgroup, 'kubepods', name)).catch(() => []);
  return (await Promise.all(['burstable', 'besteffort', ''].map(list))).flat();
}

async function descriptors(pid: number | 'self'): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

describe.skipIf(reason !== undefined)('a real node', () => {
  it(`leaves nothing of ${PODS} pods that were created and deleted`, { timeout: 60_000 + PODS * 5000 }, async () => {
    await using node = await openRealKubelet({ maxPods: 1000 });
    await node.client.of(core.ConfigMap).create({ metadata: { name: 'settings', namespace: 'default' }, data: { a: '1' } });
    const record = await readFile(path.join(node.site.config.runDirectory, 'containerd.json'), 'utf8');
    const { pid: containerd } = JSON.parse(record) as { pid: number };
    // The first pod opens resources that stay open.
    await runBatch(node, ['first']);
    await deleteBatch(node, ['first']);
    await expect.poll(() => processes(node), POLL).toEqual([]);
    const before = { own: await descriptors('self'), containerd: await descriptors(containerd) };
    for (let first = 0; first < PODS; first += AT_ONCE) {
      const names = Array.from({ length: Math.min(AT_ONCE, PODS - first) }, (_, i) => `p${first + i}`);
      await runBatch(node, names);
      await expect.poll(async () => (await networkNamespaces(node)).length, POLL).toBe(names.length);
      await deleteBatch(node, names);
    }
    const noLeaks = {
      ...{ sandboxes: 0, containers: 0, namespaces: [], mounts: 0, links: 0, cgroups: [], logs: [], podDirectories: [], processes: [] },
      snapshots: IMAGE_LAYERS,
    };
    await expect.poll(() => remains(node), { timeout: 30_000, interval: 250 }).toEqual(noLeaks);
    await expect.poll(() => descriptors('self'), { timeout: 30_000, interval: 250 }).toBeLessThanOrEqual(before.own);
    await expect.poll(() => descriptors(containerd), { timeout: 30_000, interval: 250 }).toBeLessThanOrEqual(before.containerd);
  });
});
