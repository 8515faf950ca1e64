import { constants } from 'node:fs';
import { access, chmod, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { lookupTable } from '#base';
import { makeDirectory } from './make-directory.ts';

const WHY = lookupTable<string>({
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  ENOENT: 'no directory can be made there',
  ENOTDIR: 'there is a file where a directory is needed',
  ENOSPC: 'the disk is full',
  EDQUOT: "the user's share of the disk is used up",
  EROFS: 'the file system is read-only',
});

/** Directories of the machine's own node. */
const NODE_DIRECTORIES = ['containerd', 'kubelet', 'pod-logs', 'network', 'local-volumes'];

/** The directory with a cluster's persistent data. */
export class DataDirectory {
  constructor(readonly root: string) {}

  get store(): string {
    return path.join(this.root, 'store');
  }

  get pki(): string {
    return path.join(this.root, 'pki');
  }

  get kubeconfig(): string {
    return path.join(this.root, 'admin.kubeconfig');
  }

  get state(): string {
    return path.join(this.root, 'cluster.json');
  }

  /** The encryption configuration with its key, if secrets are encrypted. */
  get encryption(): string {
    return path.join(this.root, 'encryption.yaml');
  }

  get log(): string {
    return path.join(this.root, 'sampan.log');
  }

  /** Creates the directory with mode 0700: it has private keys. */
  async create(): Promise<void> {
    try {
      await makeDirectory(this.pki);
      for (const directory of [this.root, this.pki]) await access(directory, constants.W_OK);
      await chmod(this.root, 0o700);
      await this.#tryToWrite();
    } catch (error) {
      throw this.#cannotWrite(error);
    }
  }

  /** Permissions are not sufficient: the disk may be full, or the file system read-only. */
  async #tryToWrite(): Promise<void> {
    const probe = path.join(this.root, '.writable');
    await writeFile(probe, 'x');
    await rm(probe);
  }

  #cannotWrite(error: unknown): Error {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const detail = WHY[code];
    return new Error(
      `cannot write to the data directory ${this.root} (${code}${detail ? `: ${detail}` : ''}); choose another with --data-dir`,
    );
  }

  /** Undefined when the file does not exist. */
  async read(file: string): Promise<string | undefined> {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  /** Replaces a file atomically. */
  async write(file: string, text: string, mode = 0o600): Promise<void> {
    await makeDirectory(path.dirname(file));
    // Symlinks are kept: users may have their kubeconfig elsewhere.
    const target = await realpath(file).catch(() => file);
    const draft = `${target}.new`;
    await writeFile(draft, text, { mode });
    await rename(draft, target);
  }

  /** Whether the directory has a cluster's data. */
  async exists(): Promise<boolean> {
    return access(this.pki).then(
      () => true,
      () => false,
    );
  }

  /** Removes a cluster's data, and nothing else in the directory. */
  async remove(): Promise<void> {
    const ofNode = NODE_DIRECTORIES.map((name) => path.join(this.root, name));
    for (const own of [this.store, this.pki, this.kubeconfig, this.state, this.log, this.encryption, ...ofNode])
      await rm(own, { recursive: true, force: true });
    await rmdir(this.root).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EBUSY'].includes(error.code ?? '')) throw error;
    });
  }
}
