import { chmod, chown, lchown } from 'node:fs/promises';
import { DirectoryHandle } from './directory-handle.ts';

export interface OwnershipRequest {
  readonly fsGroup: number;
  /** `OnRootMismatch`: skipped when the volume's root already has the group and mode. */
  readonly policy?: string | undefined;
  readonly readOnly: boolean;
}

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const SEARCH = 0o110;
const SET_GROUP = 0o2000;
const PERMISSIONS = 0o7777;
const KEEP_OWNER = -1;
/** The depth limit: each level holds a file descriptor. */
const MAX_DEPTH = 256;

/** Applies fsGroup: gives a volume and its content to the pod's group, readable (and writable unless read-only). */
export async function setVolumeOwnership(directory: string, request: OwnershipRequest): Promise<void> {
  await using root = await DirectoryHandle.open(directory);
  if (request.policy === 'OnRootMismatch' && (await isOwnedAlready(root, request))) return;
  await changeTree(root, request, 0);
}

async function isOwnedAlready(root: DirectoryHandle, { fsGroup, readOnly }: OwnershipRequest): Promise<boolean> {
  const { gid, mode } = await root.stat();
  const required = (readOnly ? READ_ONLY : READ_WRITE) | SEARCH | SET_GROUP;
  return gid === fsGroup && (mode & required) === required;
}

// The root is changed last: an interrupted run is repeated.
async function changeTree(directory: DirectoryHandle, request: OwnershipRequest, depth: number): Promise<void> {
  if (depth > MAX_DEPTH) throw new Error(`the volume's directories are nested deeper than ${MAX_DEPTH}`);
  for (const name of await directory.names()) await ignoreMissing(changeEntry(directory, name, { request, depth }));
  const { mode } = await directory.stat();
  await change(directory.path, mode, { request, isDirectory: true });
}

interface Level {
  readonly request: OwnershipRequest;
  readonly depth: number;
}

async function changeEntry(parent: DirectoryHandle, name: string, { request, depth }: Level): Promise<void> {
  await using entry = await parent.child(name);
  const stats = await entry.stat();
  if (stats.isSymbolicLink()) return await lchown(parent.childPath(name), KEEP_OWNER, request.fsGroup);
  if (!stats.isDirectory()) return await change(entry.path, stats.mode, { request, isDirectory: false });
  await using directory = await parent.childDirectory(name);
  await changeTree(directory, request, depth + 1);
}

interface Change {
  readonly request: OwnershipRequest;
  readonly isDirectory: boolean;
}

async function change(path: string, mode: number, { request, isDirectory }: Change): Promise<void> {
  await chown(path, KEEP_OWNER, request.fsGroup);
  const mask = (request.readOnly ? READ_ONLY : READ_WRITE) | (isDirectory ? SEARCH | SET_GROUP : 0);
  await chmod(path, (mode & PERMISSIONS) | mask);
}

/** Running programs may remove files concurrently. */
async function ignoreMissing(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
