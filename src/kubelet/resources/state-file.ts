import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A checkpoint file with atomic writes: a crash leaves the last state or the one before. */
export class StateFile<T extends object> {
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(readonly path: string) {}

  /** Undefined when it does not exist. Throws when it is corrupt: resources could be allocated twice. */
  async read(): Promise<T | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const { checksum, ...state } = this.#parse(text);
    if (checksum !== checksumOf(state)) throw this.#damagedError();
    return state as T;
  }

  #parse(text: string): { readonly checksum?: unknown } {
    try {
      return JSON.parse(text) as { readonly checksum?: unknown };
    } catch (cause) {
      throw this.#damagedError({ cause });
    }
  }

  #damagedError(options?: ErrorOptions): Error {
    return new Error(`${this.path} is damaged: drain the node and remove the file`, options);
  }

  /** Writes are serialized; resolves when this one is on disk. */
  write(state: T): Promise<void> {
    const write = this.#lastWrite.then(() => this.#replace(state));
    this.#lastWrite = write.catch(() => {});
    return write;
  }

  async #replace(state: T): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o750 });
    const next = `${this.path}.new`;
    const file = await open(next, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify({ ...state, checksum: checksumOf(state) }));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, this.path);
  }
}

function checksumOf(state: object): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('hex');
}
