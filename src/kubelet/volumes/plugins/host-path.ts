import type { Stats } from 'node:fs';
import { lstat, mkdir, open, stat } from 'node:fs/promises';
import { systemErrorText } from '../files/system-error-text.ts';
import type { VolumePlugin } from '../volume-plugin.ts';

interface TypeCheck {
  readonly title: string;
  matches(stats: Stats): boolean;
}

const DIRECTORY: TypeCheck = { title: 'directory', matches: (stats) => stats.isDirectory() };
const FILE: TypeCheck = { title: 'file', matches: (stats) => stats.isFile() };
const CHECKS = new Map<string, TypeCheck>([
  ['DirectoryOrCreate', DIRECTORY],
  ['Directory', DIRECTORY],
  ['FileOrCreate', FILE],
  ['File', FILE],
  ['Socket', { title: 'socket file', matches: (stats) => stats.isSocket() }],
  ['CharDevice', { title: 'character device', matches: (stats) => stats.isCharacterDevice() }],
  ['BlockDevice', { title: 'block device', matches: (stats) => stats.isBlockDevice() }],
]);

/** A hostPath. Only checked here; the runtime mounts it. */
export function hostPathPlugin(): VolumePlugin {
  return {
    name: 'kubernetes.io/host-path',
    supports: ({ volume, persistentVolume }) => (persistentVolume?.spec?.hostPath ?? volume.hostPath) !== undefined,
    setUp: async ({ spec }) => {
      const source = spec.persistentVolume?.spec?.hostPath ?? spec.volume.hostPath;
      if (source === undefined) throw new Error('not a hostPath volume');
      await checkHostPath(source.path, source.type ?? '');
      return { hostPath: source.path, mustBeReadOnly: spec.readOnly };
    },
    tearDown: async () => {},
  };
}

/** Rejects with upstream's text when the path does not have the type. */
export async function checkHostPath(path: string, type: string): Promise<void> {
  if (type === '') return;
  const check = CHECKS.get(type);
  if (check === undefined) throw new Error(`${type} is an invalid volume type`);
  const stats = await statIfPresent(path);
  if (stats === undefined && type.endsWith('OrCreate')) return create(path, type);
  if (stats === undefined || !check.matches(stats)) throw new Error(`hostPath type check failed: ${path} is not a ${check.title}`);
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(systemErrorText(error), { cause: error });
  }
}

async function create(path: string, type: string): Promise<void> {
  try {
    if (type === 'FileOrCreate') await (await open(path, 'a', 0o644)).close();
    else if (!(await isDanglingLink(path))) await mkdir(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new Error(systemErrorText(error), { cause: error });
  }
}

/** Upstream takes it for a directory that somebody else has just made, and the runtime reports it. */
function isDanglingLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
}
