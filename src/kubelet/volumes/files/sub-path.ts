import { chmod, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Mounter } from '../mount/mounter.ts';
import type { PodDirectories } from '../pod-directories.ts';
import { DirectoryHandle, type PathHandle } from './directory-handle.ts';

export interface SubPathRequest {
  readonly podUid: string;
  readonly volumeName: string;
  readonly containerName: string;
  /** The index of the container's mount: a volume may be mounted several times. */
  readonly mountIndex: number;
  readonly volumePath: string;
  readonly subPath: string;
}

const PERMISSIONS = 0o7777;

/** Creates the missing directories of a subPath, with the volume's mode. Symlinks are followed within the volume. */
export async function makeSubPath(volumePath: string, subPath: string): Promise<void> {
  const mode = (await stat(volumePath)).mode & PERMISSIONS;
  const names = namesOf(subPath);
  const base = await realpath(volumePath);
  const existing = await deepestExisting(base, names);
  await using holder = await openBelow(base, existing.names);
  await makeBelow(holder, names.slice(existing.count), mode);
}

/**
 * Bind-mounts a subPath at a path that only the kubelet can change, and resolves with that path: the container gets exactly what was
 * checked, even if the subPath is replaced. Rejects when it leads out of the volume.
 */
export async function bindSubPath(request: SubPathRequest, directories: PodDirectories, mounter: Mounter): Promise<string> {
  const { podUid, volumeName, containerName, mountIndex, volumePath, subPath } = request;
  const base = await realpath(volumePath);
  const resolved = await realpath(join(base, subPath));
  const target = join(directories.subPaths(podUid), volumeName, containerName, String(mountIndex));
  await using opened = await openFile(base, insideNames(base, resolved));
  const isDirectory = (await opened.stat()).isDirectory();
  if (await mounter.isMountPoint(target)) await mounter.unmount(target);
  await makeTarget(target, isDirectory);
  await mounter.mount({ source: opened.sharedPath, target });
  return target;
}

async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(isDirectory ? target : join(target, '..'), { recursive: true, mode: 0o750 });
  if (!isDirectory) await writeFile(target, '', { mode: 0o640 });
}

function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function insideNames(base: string, path: string): readonly string[] {
  const inside = relative(base, path);
  if (inside === '..' || inside.startsWith('../') || inside.startsWith('/')) throw new Error(`${path} is outside of the volume`);
  return namesOf(inside);
}

interface ExistingPath {
  /** The resolved names below the base. */
  readonly names: readonly string[];
  /** The number of resolved components of the requested path. */
  readonly count: number;
}

/** A path of at most 4096 bytes has no more components. */
const MAX_DEPTH = 2048;

async function deepestExisting(base: string, names: readonly string[]): Promise<ExistingPath> {
  for (let count = Math.min(names.length, MAX_DEPTH); count > 0; count--) {
    const path = await resolveIfPresent(join(base, names.slice(0, count).join('/')));
    if (path !== undefined) return { names: insideNames(base, path), count };
  }
  return { names: [], count: 0 };
}

async function resolveIfPresent(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Opens component after component, none of which may be a symlink. */
async function openBelow(base: string, names: readonly string[]): Promise<DirectoryHandle> {
  let directory = await DirectoryHandle.open(base);
  for (const name of names) {
    await using parent = directory;
    directory = await parent.childDirectory(name);
  }
  return directory;
}

async function openFile(base: string, names: readonly string[]): Promise<PathHandle> {
  const last = names.at(-1);
  if (last === undefined) return DirectoryHandle.open(base);
  await using parent = await openBelow(base, names.slice(0, -1));
  const handle = await parent.child(last);
  if (!(await handle.stat()).isSymbolicLink()) return handle;
  await handle[Symbol.asyncDispose]();
  throw new Error(`"${last}" became a link meanwhile`);
}

async function makeBelow(parent: DirectoryHandle, names: readonly string[], mode: number): Promise<void> {
  const [name, ...rest] = names;
  if (name === undefined) return;
  await using child = await parent.makeDirectory(name, mode);
  // The umask may have restricted the mode.
  await chmod(child.path, mode);
  await makeBelow(child, rest, mode);
}
