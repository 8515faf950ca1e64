import { closeSync, createReadStream, createWriteStream, existsSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock, Logger } from '#base';

export interface LogFileConfig {
  /** `-` is standard output, which is never rotated. */
  readonly path: string;
  /** 0: unlimited. */
  readonly maxBytes: number;
  /** How long rotated files are kept. 0: unlimited. */
  readonly maxAgeMs: number;
  /** How many rotated files are kept. 0: all. */
  readonly maxBackups: number;
  readonly compress: boolean;
}

const STANDARD_OUTPUT = 1;

/** A rotated log file; backups have the time in their name, as with upstream's logger. */
export class LogFile {
  #descriptor: number;
  #size = 0;
  /** Serializes compression and removal of rotated files. */
  #cleaning: Promise<void> = Promise.resolve();

  constructor(
    private readonly config: LogFileConfig,
    private readonly deps: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#descriptor = this.#open();
    if (this.#isFile) this.#clean();
  }

  get #isFile(): boolean {
    return this.config.path !== '-';
  }

  /** Writes all of it, or throws. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    const { maxBytes } = this.config;
    if (this.#isFile && maxBytes > 0 && this.#size > 0 && this.#size + bytes.length > maxBytes) this.#rotate();
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
    this.#size += bytes.length;
  }

  async close(): Promise<void> {
    if (this.#isFile) closeSync(this.#descriptor);
    await this.#cleaning;
  }

  #open(): number {
    const { path: file } = this.config;
    if (!this.#isFile) return STANDARD_OUTPUT;
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const descriptor = openSync(file, 'a', 0o600);
    this.#size = fstatSync(descriptor).size;
    return descriptor;
  }

  #rotate(): void {
    const { path: file } = this.config;
    closeSync(this.#descriptor);
    renameSync(file, this.#backupName());
    this.#descriptor = this.#open();
    this.#clean();
  }

  /** audit.log: audit-2026-01-02T03-04-05.678.log. */
  #backupName(): string {
    const { dir, name, ext } = path.parse(this.config.path);
    for (let timeMs = this.deps.clock.now(); ; timeMs++) {
      const time = new Date(timeMs).toISOString().replaceAll(':', '-').slice(0, -1);
      const file = path.join(dir, `${name}-${time}${ext}`);
      if (!existsSync(file) && !existsSync(`${file}.gz`)) return file;
    }
  }

  #clean(): void {
    this.#cleaning = this.#cleaning
      .then(() => this.#removeOld())
      .then((files) => this.#compressAll(files))
      .catch((error: unknown) => this.deps.logger.warn('rotated audit logs could not be cleaned up', { error }));
  }

  /** Removes old files; returns the others, newest first. */
  async #removeOld(): Promise<readonly string[]> {
    const { path: file, maxAgeMs, maxBackups } = this.config;
    const backups = (await readdir(path.dirname(file))).flatMap((name) => backupOf(file, name)).sort((a, b) => b.timeMs - a.timeMs);
    const oldest = maxAgeMs > 0 ? this.deps.clock.now() - maxAgeMs : Number.NEGATIVE_INFINITY;
    const isKept = ({ timeMs }: Backup, index: number) => timeMs >= oldest && (maxBackups === 0 || index < maxBackups);
    for (const [index, backup] of backups.entries()) if (!isKept(backup, index)) await rm(backup.file, { force: true });
    return backups.filter(isKept).map((backup) => backup.file);
  }

  async #compressAll(files: readonly string[]): Promise<void> {
    if (!this.config.compress) return;
    for (const file of files.filter((name) => !name.endsWith('.gz'))) {
      await pipeline(createReadStream(file), createGzip(), createWriteStream(`${file}.gz`, { mode: 0o600 }));
      await rm(file);
    }
  }
}

interface Backup {
  readonly file: string;
  readonly timeMs: number;
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

function backupOf(file: string, candidate: string): readonly Backup[] {
  const { dir, name, ext } = path.parse(file);
  const plain = candidate.endsWith('.gz') ? candidate.slice(0, -3) : candidate;
  if (!plain.startsWith(`${name}-`) || !plain.endsWith(ext)) return [];
  const [, day, hours, minutes, seconds] = TIME.exec(plain.slice(name.length + 1, plain.length - ext.length)) ?? [];
  if (day === undefined) return [];
  return [{ file: path.join(dir, candidate), timeMs: Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) }];
}
