import { readdir, readFile, readlink, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { core } from '#api';
import type { Clock } from '#base';
import type { CgroupTree } from '../cgroups/cgroup-tree.ts';
import type { CgroupUsage } from '../cgroups/cgroup-usage.ts';
import type { Container, ContainerRuntime, ContainerStats, Sandbox } from '../cri/runtime.ts';
import { CONTAINER_NAME, POD_NAME, POD_NAMESPACE } from '../pods/labels.ts';
import type { ContainerSample, FileSystemSample, InterfaceUsage, ProcessUsage, SampleLabels } from './container-sample.ts';
import { parseNetDev } from './network-usage.ts';

export interface LinuxSamplesDeps {
  readonly clock: Clock;
  readonly runtime: ContainerRuntime;
  readonly tree: CgroupTree;
  /** The kubelet's directory, on the node's file system. */
  readonly rootDir: string;
  podsPath(): string;
  podPath(pod: core.Pod): string;
}

/** The runtime's containers and sandboxes, by cgroup name. */
interface RuntimeView {
  readonly containers: ReadonlyMap<string, Container>;
  readonly sandboxes: ReadonlyMap<string, Sandbox>;
  readonly stats: ReadonlyMap<string, ContainerStats>;
  /** Image names by id. */
  readonly images: ReadonlyMap<string, string>;
}

/** Samples of every cgroup that upstream's kubelet exports: the root, and kubepods with everything below. */
export async function linuxSamples(pods: readonly core.Pod[], deps: LinuxSamplesDeps): Promise<readonly ContainerSample[]> {
  const view = await runtimeView(deps.runtime);
  const podOf = new Map(pods.map((pod) => [deps.podPath(pod), pod]));
  const samples: ContainerSample[] = [];
  const visit = async (path: string): Promise<void> => {
    const own = await sample(path, labelsOf(path, podOf.get(path), view), { deps, view });
    if (own !== undefined) samples.push(own);
    for (const name of await deps.tree.children(path)) await visit(`${path}/${name}`);
  };
  const machine = await sample('', { ...NO_POD, id: '/' }, { deps, view });
  if (machine !== undefined) samples.push(machine);
  if (deps.tree.exists(deps.podsPath())) await visit(deps.podsPath());
  return samples;
}

const NO_POD = { container: '', image: '', name: '', namespace: '', pod: '' };

async function runtimeView(runtime: ContainerRuntime): Promise<RuntimeView> {
  const [containers, sandboxes, stats, images] = await Promise.all([
    runtime.listContainers({ state: 'running' }),
    runtime.listPodSandbox(),
    runtime.listContainerStats(),
    runtime.listImages(),
  ]);
  return {
    containers: new Map(containers.map((container) => [container.id, container])),
    sandboxes: new Map(sandboxes.map((sandbox) => [sandbox.id, sandbox])),
    stats: new Map(stats.map((entry) => [entry.attributes.id, entry])),
    images: new Map(images.map(({ id, repoTags, repoDigests }) => [id, repoTags[0] ?? repoDigests[0] ?? id])),
  };
}

/** `ID` with the driver cgroupfs, `cri-containerd-ID.scope` with systemd. */
function runtimeId(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.endsWith('.scope') ? name.slice(name.lastIndexOf('-') + 1, -'.scope'.length) : name;
}

function labelsOf(path: string, pod: core.Pod | undefined, { containers, sandboxes, images }: RuntimeView): SampleLabels {
  const id = `/${path}`;
  const own = runtimeId(path);
  const container = containers.get(own);
  const labels = (container ?? sandboxes.get(own))?.labels;
  if (labels === undefined) return { ...NO_POD, id, namespace: pod?.metadata.namespace ?? '', pod: pod?.metadata.name ?? '' };
  return {
    ...{ id, name: own, image: (container && (images.get(container.imageRef) ?? container.imageRef)) ?? '' },
    ...{ container: labels[CONTAINER_NAME] ?? '', namespace: labels[POD_NAMESPACE] ?? '', pod: labels[POD_NAME] ?? '' },
  };
}

interface SampleContext {
  readonly deps: LinuxSamplesDeps;
  readonly view: RuntimeView;
}

/** Undefined when the cgroup has disappeared. */
async function sample(path: string, labels: SampleLabels, { deps, view }: SampleContext): Promise<ContainerSample | undefined> {
  const { tree, clock } = deps;
  const usage = await tree.usage(path);
  if (path !== '' && !tree.exists(path)) return undefined;
  const runs = view.containers.get(labels.name) ?? view.sandboxes.get(labels.name);
  const createdMs = runs?.createdAtMs ?? (await tree.createdMs(path));
  const processes = labels.name === '' ? [] : await tree.processes(path);
  return {
    ...{ labels, usage, seenMs: clock.now(), createdMs, startedMs: createdMs, io: await withDeviceNames(usage.io) },
    fileSystems: await fileSystemsOf(labels, { deps, view }),
    // The sandbox owns the pod's network; its containers share it.
    interfaces: labels.id === '/' || view.sandboxes.has(labels.name) ? await interfacesOf(labels.id === '/' ? 'self' : processes[0]) : [],
    processes: labels.name === '' ? undefined : await processUsage(processes),
  };
}

async function interfacesOf(pid: number | string | undefined): Promise<readonly InterfaceUsage[]> {
  return pid === undefined ? [] : parseNetDev(await readFile(`/proc/${pid}/net/dev`, 'utf8').catch(() => ''));
}

async function withDeviceNames(io: CgroupUsage['io']): Promise<CgroupUsage['io']> {
  return Promise.all(io.map(async (entry) => ({ ...entry, device: await deviceName(entry.device) })));
}

/** The path of a block device by its numbers, such as `8:0`. */
async function deviceName(numbers: string): Promise<string> {
  const text = await readFile(`/sys/dev/block/${numbers}/uevent`, 'utf8').catch(() => '');
  const line = text.split('\n').find((candidate) => candidate.startsWith('DEVNAME='));
  return line === undefined ? '' : `/dev/${line.slice('DEVNAME='.length)}`;
}

/** The machine's file system for pods, or a container's writable layer. */
async function fileSystemsOf({ id, name }: SampleLabels, { deps, view }: SampleContext): Promise<readonly FileSystemSample[]> {
  const layer = view.stats.get(name)?.writableLayer;
  if (id !== '/' && layer === undefined) return [];
  const fileSystem = await wholeFileSystem(layer?.mountpoint || deps.rootDir);
  if (fileSystem === undefined) return [];
  return [layer === undefined ? fileSystem : { ...fileSystem, usageBytes: layer.usedBytes ?? 0 }];
}

async function wholeFileSystem(path: string): Promise<FileSystemSample | undefined> {
  try {
    const [{ blocks, bfree, bsize, files, ffree }, { dev }] = await Promise.all([statfs(path), stat(path)]);
    const numbers = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
    const device = await deviceName(numbers);
    return { device, usageBytes: (blocks - bfree) * bsize, limitBytes: blocks * bsize, inodes: files, inodesFree: ffree };
  } catch {
    return undefined;
  }
}

/** Processes that exit in the meantime are left out. */
async function processUsage(pids: readonly number[]): Promise<ProcessUsage> {
  let [fileDescriptors, sockets] = [0, 0];
  for (const pid of pids) {
    const directory = `/proc/${pid}/fd`;
    const names = await readdir(directory).catch(() => []);
    fileDescriptors += names.length;
    const targets = await Promise.all(names.map((name) => readlink(join(directory, name)).catch(() => '')));
    sockets += targets.filter((target) => target.startsWith('socket:')).length;
  }
  return { processes: pids.length, fileDescriptors, sockets, maxOpenFiles: await maxOpenFiles(pids[0]) };
}

async function maxOpenFiles(pid: number | undefined): Promise<number | undefined> {
  const text = pid === undefined ? '' : await readFile(`/proc/${pid}/limits`, 'utf8').catch(() => '');
  const line = text.split('\n').find((candidate) => candidate.startsWith('Max open files')) ?? '';
  const value = Number.parseInt(line.slice('Max open files'.length), 10);
  return Number.isNaN(value) ? undefined : value;
}
