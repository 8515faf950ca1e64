import { readFile } from 'node:fs/promises';
import { AsyncSemaphore, ProgramError, runProgram } from '#base';
import { messageOf } from '../volume-plugin.ts';
import { type MountPoint, parseMountInfo } from './mount-info.ts';

export interface MountRequest {
  readonly source: string;
  readonly target: string;
  /** Absent: a bind mount. */
  readonly fsType?: string;
  readonly options?: readonly string[];
}

/** Mounts and unmounts with util-linux. */
export interface Mounter {
  /** The mounts below a directory (including itself), in mount order. */
  mountsBelow(directory: string): Promise<readonly MountPoint[]>;
  isMountPoint(path: string): Promise<boolean>;
  mount(request: MountRequest): Promise<void>;
  /** Enables bidirectional mount propagation; the path becomes a mount point if it is none. */
  makeShared(path: string): Promise<void>;
  /** Sequentially, in this order. Succeeds for paths without a mount. */
  unmount(...paths: readonly string[]): Promise<void>;
}

/** Each mount is a process; more at a time only contend for the kernel's mount lock. */
const CONCURRENCY = 4;

export class MountError extends Error {
  override readonly name = 'MountError';
}

export interface HostMounterDeps {
  readonly run?: Run;
  /** The text of /proc/self/mountinfo. */
  readonly mountInfo?: () => Promise<string>;
}

type Run = (program: string, args: readonly string[]) => Promise<unknown>;

export function hostMounter({ run = runProgram, mountInfo = readMountInfo }: HostMounterDeps = {}): Mounter {
  const local = limited(run);
  // Unresponsive servers only delay each other.
  const remote = limited(run);
  const mountsBelow = async (directory: string) => {
    const mounts = parseMountInfo(await mountInfo());
    return mounts.filter(({ path }) => path === directory || path.startsWith(`${directory}/`));
  };
  const mountAt = async (path: string) => (await mountsBelow(path)).findLast((mount) => mount.path === path);
  const isMountPoint = async (path: string) => (await mountAt(path)) !== undefined;
  const unmountRemote = async (path: string) => {
    await remote('umount', ['--no-canonicalize', '--', path]).catch(async (error: unknown) => {
      // As upstream: pending requests to a server that is gone fail.
      if (await isMountPoint(path)) await remote('umount', ['--no-canonicalize', '--internal-only', '--force', '--', path]);
      else if (!(error instanceof ProgramError)) throw error;
    });
  };
  const unmountAll = async (paths: readonly string[]) => {
    try {
      await local('umount', ['--', ...paths]);
    } catch (error) {
      // The error message is localized; the mount table is not.
      for (const path of paths) {
        if (await isMountPoint(path)) throw new MountError(`unmount failed: ${messageOf(error)}`, { cause: error });
      }
    }
  };
  return {
    mountsBelow,
    isMountPoint,
    mount: (request) => mount(request, isRemoteType(request.fsType) ? remote : local),
    makeShared: async (path) => {
      const own = await mountAt(path);
      if (own?.shared === true) return;
      if (own === undefined) await mount({ source: path, target: path }, local);
      await local('mount', ['--make-shared', '--', path]);
    },
    unmount: async (...paths) => {
      if (paths.length === 0) return;
      const remotes = new Set(
        parseMountInfo(await mountInfo())
          .filter(({ fsType }) => isRemoteType(fsType))
          .map(({ path }) => path),
      );
      if (!paths.some((path) => remotes.has(path))) return unmountAll(paths);
      for (const path of paths) await (remotes.has(path) ? unmountRemote(path) : unmountAll([path]));
    },
  };
}

function readMountInfo(): Promise<string> {
  return readFile('/proc/self/mountinfo', 'utf8');
}

function limited(run: Run): Run {
  const permits = new AsyncSemaphore(CONCURRENCY);
  return (program, args) => permits.run(() => run(program, args));
}

/** Whether the file system's calls wait for a server, for ever if it is gone. */
function isRemoteType(fsType: string | undefined): boolean {
  return fsType === 'nfs' || fsType === 'nfs4';
}

async function mount({ source, target, fsType, options = [] }: MountRequest, run: Run): Promise<void> {
  const type = fsType === undefined ? [] : ['-t', fsType];
  await mountWith([...type, ...optionArguments(fsType === undefined ? ['bind'] : options), '--', source, target], run);
  // The kernel ignores other options of a bind mount until it is remounted.
  if (fsType === undefined && options.length > 0)
    await mountWith([...optionArguments(['remount', 'bind', ...options]), '--', source, target], run);
}

async function mountWith(args: readonly string[], run: Run): Promise<void> {
  try {
    // The source may be a /proc/PID/fd link that must reach the kernel unresolved: a resolved path could be replaced.
    await run('mount', ['--no-canonicalize', '--no-mtab', ...args]);
  } catch (error) {
    throw new MountError(mountFailure(args, error), { cause: error });
  }
}

/** In upstream's form. */
function mountFailure(args: readonly string[], error: unknown): string {
  if (!(error instanceof ProgramError) || error.exitCode === undefined) return `mount failed: ${messageOf(error)}`;
  const mountArguments = args.filter((arg) => arg !== '--').join(' ');
  const output = error.message.replace(/^mount failed: /, '');
  return `mount failed: exit status ${error.exitCode}\nMounting command: mount\nMounting arguments: ${mountArguments}\nOutput: ${output}\n`;
}

function optionArguments(options: readonly string[]): readonly string[] {
  return options.length === 0 ? [] : ['-o', options.join(',')];
}
