import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Clock, silentLogger } from '#base';
import { architectureOf, endpointOf, findProgram, type PrivateContainerdConfig } from '#kubelet';

/** The values of `--runtime`. */
export type RuntimeChoice = 'auto' | 'simulated' | 'containerd' | `unix://${string}`;

/** The machine, and the cluster's data directory. */
export interface RuntimeSite {
  /** The cluster's data directory. */
  readonly dataDirectory: string;
  /** As in PATH. */
  readonly searchPath: string;
  /** Additional search directories. Default: the usual ones. */
  readonly standardPath?: readonly string[];
  readonly isRoot: boolean;
  readonly platform: string;
  /** Node's name of the architecture. */
  readonly arch: string;
  readonly clock: Clock;
  /** Sockets of installed runtimes. Default: the usual ones. */
  readonly machineSockets?: readonly string[];
}

/** The container runtime of a node. */
export type NodeRuntime =
  | { readonly type: 'simulated'; readonly description: string /** In `auto` only. */; readonly reason?: string }
  | { readonly type: 'socket'; readonly endpoint: string; readonly description: string }
  | {
      readonly type: 'containerd';
      readonly endpoint: string;
      readonly description: string;
      readonly containerd: PrivateContainerdConfig;
    };

const SOCKETS = ['/run/containerd/containerd.sock', '/run/crio/crio.sock', '/var/run/cri-dockerd.sock'];
const INSTALL = 'install containerd and runc (Debian: apt-get install containerd), and run as root';

/** Throws with a message for the user when the chosen runtime is unavailable. */
export async function chooseRuntime(choice: RuntimeChoice, site: RuntimeSite): Promise<NodeRuntime> {
  if (choice === 'simulated') return { type: 'simulated', description: 'simulated' };
  if (choice === 'containerd') return privateRuntime(site);
  if (choice !== 'auto') return namedSocket(choice, site);
  try {
    return await privateRuntime(site);
  } catch (error) {
    const socket = await machineSocket(site);
    if (socket !== undefined) return socket;
    return { type: 'simulated', description: 'simulated', reason: (error as Error).message };
  }
}

async function privateRuntime(site: RuntimeSite): Promise<NodeRuntime> {
  const containerd = await privateContainerdOf(site);
  return {
    type: 'containerd',
    containerd,
    endpoint: endpointOf(containerd),
    description: `containerd of its own (${containerd.containerd})`,
  };
}

/** The private containerd of the cluster's directory. */
export async function privateContainerdOf(site: RuntimeSite): Promise<PrivateContainerdConfig> {
  const { dataDirectory, searchPath, platform, arch } = site;
  if (platform !== 'linux') throw new Error('containers need Linux');
  const architecture = architectureOf(arch);
  if (architecture === undefined)
    throw new Error(`there is no sandbox image for processors of type ${arch}; name a runtime with --runtime unix:///path`);
  const find = (name: string) => findProgram(name, searchPath, site.standardPath);
  const containerd = await find('containerd');
  const ociRuntime = (await find('runc')) ?? (await find('crun'));
  if (containerd === undefined || ociRuntime === undefined) {
    throw new Error(`${containerd === undefined ? 'containerd' : 'runc'} is not on this machine: ${INSTALL}`);
  }
  if (!site.isRoot) throw new Error('starting containers needs root: run as root');
  return {
    dataDirectory: path.join(dataDirectory, 'containerd'),
    runDirectory: runDirectoryOf(dataDirectory),
    architecture,
    containerd,
    ociRuntime,
  };
}

/** Short, because socket paths are limited; on tmpfs, since its state does not survive a reboot. */
export function runDirectoryOf(dataDirectory: string): string {
  return path.join('/run/sampan', identityOf(dataDirectory));
}

/** The cgroup root of the node with this data directory, distinct for each cluster on the machine. */
export function cgroupRootOf(dataDirectory: string): string {
  return `/sampan-${identityOf(dataDirectory)}`;
}

function identityOf(dataDirectory: string): string {
  return createHash('sha256').update(path.resolve(dataDirectory)).digest('hex').slice(0, 12);
}

async function namedSocket(endpoint: string, site: RuntimeSite): Promise<NodeRuntime> {
  try {
    return { type: 'socket', endpoint, description: `${await nameOf(endpoint, site.clock)} at ${endpoint}` };
  } catch (cause) {
    throw new Error(`no container runtime answers at ${endpoint}`, { cause });
  }
}

async function machineSocket(site: RuntimeSite): Promise<NodeRuntime | undefined> {
  for (const socket of site.machineSockets ?? SOCKETS) {
    if (!existsSync(socket)) continue;
    const answering = await namedSocket(`unix://${socket}`, site).catch(() => undefined);
    if (answering !== undefined) return answering;
  }
  return undefined;
}

async function nameOf(endpoint: string, clock: Clock): Promise<string> {
  const { GrpcRuntime, noStreaming } = await import('#kubelet');
  using runtime = new GrpcRuntime({ endpoint, requestTimeoutMs: 5_000 }, { clock, logger: silentLogger, streaming: noStreaming });
  const { runtimeName, runtimeVersion } = await runtime.version();
  return `${runtimeName} ${runtimeVersion}`;
}
