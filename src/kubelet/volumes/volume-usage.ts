import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runProgram } from '#base';

export interface FileSystemUsage {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly inodesUsed: number;
}

/** The usage of a directory: of its file system if it is a mount point, else of its files. */
export async function directoryUsage(path: string): Promise<FileSystemUsage> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
  const capacity = { capacityBytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, inodesFree: ffree };
  const [own, parent] = await Promise.all([stat(path), stat(dirname(path))]);
  if (own.dev !== parent.dev) return { ...capacity, usedBytes: (blocks - bfree) * bsize, inodesUsed: files - ffree };
  // In a child process: the directory may be very large.
  const [bytes, inodes] = await Promise.all([diskUsage(path, '--block-size=1'), diskUsage(path, '--inodes')]);
  return { ...capacity, usedBytes: bytes, inodesUsed: inodes };
}

/** Longer than a server that answers takes. */
const REMOTE_TIMEOUT_MS = 10_000;

/**
 * The same for a mount whose server may be unreachable: a child process waits for it, with a timeout, instead of one of this process's few
 * threads.
 */
export async function remoteUsage(path: string): Promise<FileSystemUsage> {
  const format = '--format=%S %b %f %a %c %d';
  const text = await runProgram('stat', ['--file-system', format, '--', path], { timeoutMs: REMOTE_TIMEOUT_MS });
  const [bsize = 0, blocks = 0, bfree = 0, bavail = 0, files = 0, ffree = 0] = text.trim().split(' ').map(Number);
  return {
    ...{ capacityBytes: blocks * bsize, availableBytes: bavail * bsize, usedBytes: (blocks - bfree) * bsize },
    ...{ inodes: files, inodesFree: ffree, inodesUsed: files - ffree },
  };
}

async function diskUsage(path: string, unit: string): Promise<number> {
  const stdout = await runProgram('du', ['--summarize', '--one-file-system', unit, '--', path]);
  return Number.parseInt(stdout, 10);
}
