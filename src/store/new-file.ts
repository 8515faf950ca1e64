import { access, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a file that appears under its name only when it is complete and on disk: `fill` writes and syncs `temporary`, which is
 * beside it. Nothing is left behind when it fails.
 */
export async function newFile<T>(file: string, fill: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = `${file}.${process.pid}.partial`;
  await access(dirname(file));
  try {
    const result = await fill(temporary);
    await rename(temporary, file);
    await syncDirectory(dirname(file));
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes names in the directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r');
  await handle.sync();
}
