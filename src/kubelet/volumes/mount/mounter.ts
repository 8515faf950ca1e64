import { readFile } from 'node:fs/promises';
import { AsyncSemaphore, runProgram } from '#base';
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

export function hostMounter(): Mounter {
  const permits = new AsyncSemaphore(CONCURRENCY);
  const run = (program: string, args: readonly string[]) => permits.run(() => runProgram(program, args));
  const mountsBelow = async (directory: string) => {
    const mounts = parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
    return mounts.filter(({ path }) => path === directory || path.startsWith(`${directory}/`));
  };
  const isMountPoint = async (path: string) => (await mountsBelow(path)).some((mount) => mount.path === path);
  return {
    mountsBelow,
    isMountPoint,
    mount: (request) => mount(request, run),
    makeShared: async (path) => {
      const own = (await mountsBelow(path)).find((mount) => mount.path === path);
      if (own?.shared === true) return;
      if (own === undefined) await mount({ source: path, target: path }, run);
      await run('mount', ['--make-shared', '--', path]);
    },
    unmount: async (...paths) => {
      if (paths.length === 0) return;
      try {
        await run('umount', ['--', ...paths]);
      } catch (error) {
        // The error message is localized; the mount table is not.
        for (const path of paths) {
          if (await isMountPoint(path)) throw new MountError(`unmount failed: ${(error as Error).message}`, { cause: error });
        }
      }
    },
  };
}

type Run = (program: string, args: readonly string[]) => Promise<unknown>;

async function mount({ source, target, fsType, options = [] }: MountRequest, run: Run): Promise<void> {
  // The source may be a /proc/PID/fd link that must reach the kernel unresolved: a resolved path could be replaced.
  const base = ['--no-canonicalize', '--no-mtab'];
  try {
    if (fsType !== undefined) {
      await run('mount', [...base, '-t', fsType, ...optionArguments(options), '--', source, target]);
      return;
    }
    await run('mount', [...base, '-o', 'bind', '--', source, target]);
    // The kernel ignores other options of a bind mount until it is remounted.
    if (options.length > 0) await run('mount', [...base, '-o', ['remount', 'bind', ...options].join(','), '--', source, target]);
  } catch (error) {
    throw new MountError(`mount failed: ${(error as Error).message}`, { cause: error });
  }
}

function optionArguments(options: readonly string[]): readonly string[] {
  return options.length === 0 ? [] : ['-o', options.join(',')];
}
