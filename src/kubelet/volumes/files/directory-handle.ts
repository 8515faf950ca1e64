import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises';

/** Linux's O_PATH, missing in node:fs: refers to a file that need not be readable. */
const O_PATH = 0o10000000;
const { O_NOFOLLOW, O_DIRECTORY } = constants;

/** A file held open without following symlinks. */
export class PathHandle implements AsyncDisposable {
  constructor(protected readonly handle: FileHandle) {}

  /** For system calls of this process, which reach exactly the held file. */
  get path(): string {
    return `/proc/self/fd/${this.handle.fd}`;
  }

  /** The same for child processes. */
  get sharedPath(): string {
    return `/proc/${process.pid}/fd/${this.handle.fd}`;
  }

  stat(): Promise<Stats> {
    return this.handle.stat();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.handle.close();
  }
}

/**
 * A directory held open, so that operations below it cannot be redirected by replacing it with a symlink. Children
 * are opened through /proc/self/fd, one name at a time, without following symlinks: like openat(2).
 */
export class DirectoryHandle extends PathHandle {
  /** The path is trusted; only its last component must not be a symlink. */
  static async open(path: string): Promise<DirectoryHandle> {
    return new DirectoryHandle(await open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  }

  childPath(name: string): string {
    if (name === '' || name === '.' || name === '..' || name.includes('/')) throw new Error(`not the name of a file: "${name}"`);
    return `${this.path}/${name}`;
  }

  async child(name: string): Promise<PathHandle> {
    return new PathHandle(await open(this.childPath(name), O_PATH | O_NOFOLLOW));
  }

  async childDirectory(name: string): Promise<DirectoryHandle> {
    return new DirectoryHandle(await open(this.childPath(name), O_PATH | O_NOFOLLOW | O_DIRECTORY));
  }

  async makeDirectory(name: string, mode: number): Promise<DirectoryHandle> {
    await mkdir(this.childPath(name), { mode });
    return this.childDirectory(name);
  }

  names(): Promise<readonly string[]> {
    return readdir(this.path);
  }
}
