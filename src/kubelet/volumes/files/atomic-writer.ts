import { chmod, chown, lchown, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock, Random } from '#base';

export interface ProjectedFile {
  readonly data: Uint8Array;
  readonly mode: number;
  /** Owner; the kubelet's own user when absent. */
  readonly user?: number | undefined;
}

/** Files by their path in the volume. */
export type Payload = ReadonlyMap<string, ProjectedFile>;

export interface AtomicWriteDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Called when everything is written and not yet visible. */
  setOwnership?(): Promise<void>;
}

const DATA = '..data';
const NEW_DATA = '..data_tmp';
const MAX_PATH = 4096;

/**
 * Replaces a directory's files atomically: they are written into a new directory, to which the symlink
 * `..data` is then switched; each top-level name is a symlink through `..data`. Resolves with whether anything changed.
 */
export async function writeAtomically(directory: string, payload: Payload, deps: AtomicWriteDeps): Promise<boolean> {
  for (const path of payload.keys()) checkPath(path);
  const before = await currentData(directory);
  if (before !== undefined && (await isCurrent(join(directory, before), payload))) {
    await linkNames(directory, payload);
    return false;
  }
  const name = timestamped(deps);
  await writeFiles(join(directory, name), payload);
  await deps.setOwnership?.();
  await rm(join(directory, NEW_DATA), { force: true });
  await symlink(name, join(directory, NEW_DATA));
  await rename(join(directory, NEW_DATA), join(directory, DATA));
  await linkNames(directory, payload);
  await removeStale(directory, payload, name);
  return true;
}

function checkPath(path: string): void {
  const names = path.split('/');
  if (path === '' || path.startsWith('/') || names.includes('..')) throw new Error(`invalid path in a volume: "${path}"`);
  if (path.length > MAX_PATH) throw new Error(`invalid path in a volume: longer than ${MAX_PATH} characters`);
  if (names[0]?.startsWith('..')) throw new Error(`invalid path in a volume: must not start with '..': "${path}"`);
}

async function currentData(directory: string): Promise<string | undefined> {
  try {
    const target = await readlink(join(directory, DATA));
    return target.includes('/') ? undefined : target;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function isCurrent(directory: string, payload: Payload): Promise<boolean> {
  const paths = await filesBelow(directory);
  if (paths === undefined || paths.length !== payload.size) return false;
  for (const path of paths) {
    const file = payload.get(path);
    if (file === undefined || !(await readFile(join(directory, path))).equals(file.data)) return false;
  }
  return true;
}

async function filesBelow(directory: string): Promise<readonly string[] | undefined> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory());
    return files.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  } catch (error) {
    // A crash between the removal of the directory and of the link to it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Upstream's format: `..2026_11_17_09_30_00.1234567890`. */
function timestamped({ clock, random }: AtomicWriteDeps): string {
  const time = new Date(clock.now()).toISOString().slice(0, 19).replace(/[-:T]/g, '_');
  return `..${time}.${Math.floor(random.float() * 9e9 + 1e9)}`;
}

// Modes are set explicitly: the umask must not apply.
async function writeFiles(directory: string, payload: Payload): Promise<void> {
  await mkdir(directory);
  await chmod(directory, 0o755);
  const directories = new Set<string>([directory]);
  for (const [path, { data, mode, user }] of payload) {
    const file = join(directory, path);
    await makeParents(dirname(file), directories);
    await writeFile(file, data, { mode: 0o600 });
    if (user !== undefined) await chown(file, user, -1);
    await chmod(file, mode);
  }
}

async function makeParents(directory: string, directories: Set<string>): Promise<void> {
  if (directories.has(directory)) return;
  await makeParents(dirname(directory), directories);
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o755);
  directories.add(directory);
}

const topName = (path: string) => path.split('/')[0] as string;

async function linkNames(directory: string, payload: Payload): Promise<void> {
  const present = new Set(await readdir(directory));
  for (const [path, { user }] of payload) {
    const name = topName(path);
    if (present.has(name)) continue;
    await symlink(join(DATA, name), join(directory, name));
    if (user !== undefined) await lchown(join(directory, name), user, -1);
    present.add(name);
  }
}

/** Removes stale symlinks and payload directories. Directories created for subPaths stay. */
async function removeStale(directory: string, payload: Payload, current: string): Promise<void> {
  const names = new Set(Array.from(payload.keys(), topName));
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const { name } = entry;
    if (name.startsWith('..') && entry.isDirectory() && name !== current) await rm(join(directory, name), { recursive: true });
    else if (entry.isSymbolicLink() && name !== DATA && !names.has(name)) await rm(join(directory, name));
  }
}
