import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Creates a directory and its parents with mode 0700. Node's `recursive` loops for ever in file systems such as /proc, where
 * mkdir fails with ENOENT.
 */
export async function makeDirectory(directory: string): Promise<void> {
  if ((await tryToMake(directory)) === 'made') return;
  await makeDirectory(path.dirname(directory));
  await mkdirOnce(directory);
}

async function tryToMake(directory: string): Promise<'made' | 'parent missing'> {
  try {
    await mkdirOnce(directory);
    return 'made';
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isMissing || (await isDirectory(path.dirname(directory)))) throw error;
    return 'parent missing';
  }
}

/** Succeeds when the directory already exists. */
async function mkdirOnce(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (await isDirectory(directory)) return;
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw Object.assign(new Error(`${directory} is not a directory`, { cause: error }), { code: 'ENOTDIR' });
  }
}

async function isDirectory(directory: string): Promise<boolean> {
  return stat(directory).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
