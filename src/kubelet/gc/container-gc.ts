import { readdir, readlink, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#base';
import type { Container, ContainerRuntime } from '../cri/runtime.ts';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';
import { containerGarbage, podOfLogDirectory } from './container-garbage.ts';

export interface PodOverview {
  /** Pods with a worker. */
  readonly live: ReadonlySet<string>;
  /** Pods that have ended for good. */
  readonly ended: ReadonlySet<string>;
}

export interface LogDirectories {
  /** Has one directory per pod. */
  readonly pods: string;
  /** Has symlinks to logs; empty: none. */
  readonly containers: string;
}

export interface ContainerGcDeps {
  readonly logger: Logger;
  readonly runtime: ContainerRuntime;
  /** Absent: containers have no log files. */
  readonly logs?: LogDirectories | undefined;
  pods(): PodOverview;
}

/** Removes unneeded containers, sandboxes and logs. */
export class ContainerGc {
  constructor(private readonly deps: ContainerGcDeps) {}

  /** With `isPressing` also the dead containers of ended pods. */
  async collect({ isPressing = false } = {}): Promise<void> {
    const { runtime, pods, logs } = this.deps;
    const [containers, sandboxes] = await Promise.all([runtime.listContainers(), runtime.listPodSandbox()]);
    // Read after the lists: pods that started in between must not be collected.
    const { live, ended } = pods();
    const garbage = containerGarbage({ containers, sandboxes, livePods: live, endedPods: ended, isPressing });
    for (const { id } of garbage.containers) await this.#attempt(() => runtime.removeContainer(id));
    for (const { id } of garbage.sandboxes) {
      await this.#attempt(async () => {
        await runtime.stopPodSandbox(id);
        await runtime.removePodSandbox(id);
      });
    }
    const removed = new Set(garbage.containers.map(({ id }) => id));
    if (logs !== undefined)
      await this.#collectLogs(
        logs,
        containers.filter(({ id }) => !removed.has(id)),
      );
  }

  async #collectLogs(logs: LogDirectories, containers: readonly Container[]): Promise<void> {
    const oldest = oldestAttempts(containers);
    const names = await readdir(logs.pods).catch(() => []);
    const { live } = this.deps.pods();
    for (const name of names) {
      const uid = podOfLogDirectory(name);
      if (uid === undefined) continue;
      const directory = join(logs.pods, name);
      if (live.has(uid)) await this.#attempt(() => removeOldLogs(directory, oldest.get(uid) ?? new Map()));
      else await this.#attempt(() => rm(directory, { recursive: true, force: true }));
    }
    if (logs.containers !== '') await this.#attempt(() => removeDanglingLinks(logs));
  }

  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.deps.logger.warn('a pod could not be cleaned up; this will be retried', { error });
    }
  }
}

/** The first run that there still is of each container, by its pod and its name. */
function oldestAttempts(containers: readonly Container[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const pods = new Map<string, Map<string, number>>();
  for (const { labels, metadata } of containers) {
    const { [POD_UID]: uid = '', [CONTAINER_NAME]: name = '' } = labels;
    const own = pods.get(uid) ?? new Map<string, number>();
    own.set(name, Math.min(own.get(name) ?? Infinity, metadata.attempt));
    pods.set(uid, own);
  }
  return pods;
}

/** Those of runs before the first that there still is: `ATTEMPT.log`, and what it was rotated to. */
async function removeOldLogs(directory: string, oldest: ReadonlyMap<string, number>): Promise<void> {
  for (const [container, attempt] of oldest) {
    const names = await readdir(join(directory, container)).catch(() => []);
    const old = names.filter((name) => Number(/^(\d+)\.log(?:\.|$)/.exec(name)?.[1] ?? attempt) < attempt);
    for (const name of old) await rm(join(directory, container, name), { force: true });
  }
}

/** Only symlinks into the directory of pod logs: others are not the kubelet's. */
async function removeDanglingLinks({ pods, containers }: LogDirectories): Promise<void> {
  for (const name of await readdir(containers)) {
    const path = join(containers, name);
    const target = await readlink(path).catch(() => '');
    if (!target.startsWith(`${pods}/`)) continue;
    const isDangling = await stat(path).then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (isDangling) await unlink(path);
  }
}
