import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { AsyncSemaphore, type Clock, type Logger } from '#base';
import type { ContainerRuntime } from '../cri/runtime.ts';
import { podOfLogDirectory } from '../gc/container-garbage.ts';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';
import { rotatedFiles } from './log-files.ts';

export interface LogRotationConfig {
  /** As `containerLogMaxSize`, in bytes; negative: logs grow without limit. Default 10 MiB. */
  readonly containerLogMaxBytes?: number;
  /** Of one container, the current one included. Default 5. */
  readonly containerLogMaxFiles?: number;
  /** How many are rotated at a time. Default 1. */
  readonly containerLogMaxWorkers?: number;
  /** How often sizes are checked. Default 10 s. */
  readonly containerLogMonitorMs?: number;
}

export interface LogRotationDeps {
  readonly runtime: Pick<ContainerRuntime, 'listContainers' | 'reopenContainerLog'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Holds a directory for each pod. */
  readonly directory: string;
}

const DEFAULT_MAX_BYTES = 10 * 1024 ** 2;
const DEFAULT_MAX_FILES = 5;

interface ContainerLog {
  readonly file: string;
  readonly podUid: string;
  readonly container: string;
  readonly attempt: number;
}

/** Rotates container logs that exceed their size, and keeps a few old ones, compressed except for the newest. */
export class LogRotation {
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #workers: AsyncSemaphore;
  /** Large logs of exited containers, which are no longer written to. */
  #endedLogs: ReadonlySet<string> = new Set();

  constructor(
    config: LogRotationConfig,
    private readonly deps: LogRotationDeps,
  ) {
    this.#maxBytes = config.containerLogMaxBytes ?? DEFAULT_MAX_BYTES;
    this.#maxFiles = config.containerLogMaxFiles ?? DEFAULT_MAX_FILES;
    this.#workers = new AsyncSemaphore(config.containerLogMaxWorkers ?? 1);
  }

  /** Checks all logs once. */
  async rotateAll(): Promise<void> {
    if (this.#maxBytes < 0) return;
    const large = (await this.#logs()).filter(({ size }) => size >= this.#maxBytes).map(({ log }) => log);
    const endedLogs = new Set<string>();
    const rotateOne = async (log: ContainerLog) => {
      if (this.#endedLogs.has(log.file) || !(await this.#rotate(log))) endedLogs.add(log.file);
    };
    await Promise.all(large.map((log) => this.#workers.run(() => rotateOne(log).catch((error: unknown) => this.#report(log, error)))));
    this.#endedLogs = endedLogs;
  }

  #report({ file }: ContainerLog, error: unknown): void {
    this.deps.logger.warn('a log could not be rotated; it will be tried again', { file, error });
  }

  async #logs(): Promise<readonly { readonly log: ContainerLog; readonly size: number }[]> {
    const { directory } = this.deps;
    const logs: { log: ContainerLog; size: number }[] = [];
    for (const pod of await namesIn(directory)) {
      const podUid = podOfLogDirectory(pod);
      if (podUid === undefined) continue;
      for (const container of await namesIn(path.join(directory, pod))) {
        for (const name of await namesIn(path.join(directory, pod, container))) {
          const [, attempt] = /^(\d+)\.log$/.exec(name) ?? [];
          if (attempt === undefined) continue;
          const file = path.join(directory, pod, container, name);
          const { size } = await stat(file).catch(() => ({ size: 0 }));
          logs.push({ log: { file, podUid, container, attempt: Number(attempt) }, size });
        }
      }
    }
    return logs;
  }

  /** False: the container does not run. */
  async #rotate({ file, podUid, container, attempt }: ContainerLog): Promise<boolean> {
    const { runtime, clock } = this.deps;
    const labelSelector = { [POD_UID]: podUid, [CONTAINER_NAME]: container };
    const running = await runtime.listContainers({ state: 'running', labelSelector });
    const current = running.find(({ metadata }) => metadata.attempt === attempt);
    if (current === undefined) return false;
    await this.#makeRoom(file);
    const rotated = `${file}.${timestamp(clock.now())}`;
    await rename(file, rotated);
    try {
      await runtime.reopenContainerLog(current.id);
    } catch (error) {
      // The runtime keeps writing to its open file.
      await rename(rotated, file);
      throw error;
    }
    return true;
  }

  /** The current log and the one being rotated count towards the maximum. */
  async #makeRoom(file: string): Promise<void> {
    const old = await rotatedFiles(file);
    const excess = Math.max(0, old.length - (this.#maxFiles - 2));
    for (const name of old.slice(0, excess)) await unlink(name);
    for (const name of old.slice(excess)) if (!name.endsWith('.gz')) await compress(name);
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    // Removed meanwhile, or not a log of ours.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}

/** Under its name only when it is whole; what a crash left under the other is written over. */
async function compress(file: string): Promise<void> {
  await pipeline(createReadStream(file), createGzip(), createWriteStream(`${file}.tmp`));
  await rename(`${file}.tmp`, `${file}.gz`);
  await unlink(file);
}

/** `20240102-030405`. */
function timestamp(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}
