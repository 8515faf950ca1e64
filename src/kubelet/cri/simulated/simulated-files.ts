import { Writable } from 'node:stream';

/** The limit per container. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 1000;

/** The in-memory files of a simulated container, bounded. Writes to /dev/null are dropped. */
export class SimulatedFiles {
  readonly #files = new Map<string, Buffer>();
  readonly #directories = new Set<string>(['/', '/tmp', '/dev', '/etc', '/root']);
  #bytes = 0;

  get(path: string): Buffer | undefined {
    return this.#files.get(normal(path));
  }

  read(path: string): Buffer {
    const file = this.get(path);
    if (file === undefined) throw new Error(`${path}: No such file or directory`);
    return file;
  }

  isDirectory(path: string): boolean {
    const name = normal(path);
    return this.#directories.has(name) || this.under(name).some(([file]) => file !== name);
  }

  makeDirectory(path: string): void {
    if (this.#directories.size < MAX_FILES) this.#directories.add(normal(path));
  }

  /** The names of a directory's entries. */
  list(path: string): readonly string[] {
    const prefix = normal(path) === '/' ? '/' : `${normal(path)}/`;
    const all = [...this.#files.keys(), ...this.#directories].filter((name) => name.startsWith(prefix) && name !== prefix);
    return [...new Set(all.map((name) => name.slice(prefix.length).split('/', 1)[0]!))].sort();
  }

  /** The file of that name, or all files below the directory of that name. */
  under(path: string): readonly (readonly [string, Buffer])[] {
    const name = normal(path);
    const prefix = name === '/' ? '/' : `${name}/`;
    return [...this.#files].filter(([file]) => file === name || file.startsWith(prefix));
  }

  async write(path: string, size: number, content: AsyncIterable<Buffer>): Promise<void> {
    if (isDropped(path)) {
      for await (const _ of content);
      return;
    }
    if (size > MAX_BYTES) throw new Error(`${path}: No space left on device`);
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(Buffer.from(chunk));
    this.#put(normal(path), Buffer.concat(chunks));
  }

  writable(path: string): Writable {
    const chunks: Buffer[] = [];
    let length = 0;
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        length += chunk.length;
        if (isDropped(path)) return done();
        if (length > MAX_BYTES) return done(new Error(`${path}: No space left on device`));
        chunks.push(chunk);
        done();
      },
      final: (done) => {
        if (!isDropped(path)) this.#put(normal(path), Buffer.concat(chunks));
        done();
      },
    }).on('error', () => {});
  }

  #put(path: string, content: Buffer): void {
    const before = this.#files.get(path)?.length ?? 0;
    if (this.#bytes - before + content.length > MAX_BYTES || this.#files.size >= MAX_FILES)
      throw new Error(`${path}: No space left on device`);
    this.#bytes += content.length - before;
    this.#files.set(path, content);
  }
}

function isDropped(path: string): boolean {
  const name = normal(path);
  return name === '/dev/null' || name.startsWith('/dev/null/');
}

function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
