import { constants } from 'node:fs';
import { access, chmod, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Where a cluster keeps what must outlive it. */
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

  get log(): string {
    return path.join(this.root, 'sampan.log');
  }

  /** Makes the directory for its owner alone: it holds private keys. */
  async create(): Promise<void> {
    try {
      await mkdir(this.pki, { recursive: true, mode: 0o700 });
      for (const directory of [this.root, this.pki]) await access(directory, constants.W_OK);
      await chmod(this.root, 0o700);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      throw new Error(`cannot write to the data directory ${this.root} (${code}); choose another with --data-dir`, { cause: error });
    }
  }

  /** Undefined when there is no such file. */
  async read(file: string): Promise<string | undefined> {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  /** Replaces a file whole: a reader sees the old text or the new one. */
  async write(file: string, text: string, mode = 0o600): Promise<void> {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    // A link stays one: people keep their kubeconfig elsewhere.
    const target = await realpath(file).catch(() => file);
    const draft = `${target}.new`;
    await writeFile(draft, text, { mode });
    await rename(draft, target);
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
