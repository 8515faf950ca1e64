import { core } from '#api';
import type { Clock, Logger } from '#base';
import type { Client } from '#client';
import { formatTime, isStatusReason } from '#machinery';
import type { ApiObject } from '../pods/api-object.ts';
import { CONFIG_HASH, CONFIG_MIRROR } from './decode-manifest.ts';

/** The worker of one pod. */
export interface StaticPodWorker {
  update(pod: core.Pod): void;
  /** The mirror pod was changed or deleted. */
  observeObject(): void;
  remove(): void;
}

export interface StaticPodsDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The node, which owns the mirror pods. */
  node(): core.Node | undefined;
  start(pod: core.Pod, object: ApiObject): StaticPodWorker;
}

interface StaticPod {
  readonly pod: core.Pod;
  readonly worker: StaticPodWorker;
  isEnding: boolean;
}

const RETRY_MS = 10_000;
const DEFAULT_GRACE_SECONDS = 30;

/**
 * Runs static pods. The mirror pod in the API only reflects a static pod: if it is deleted it is created again. A pod whose manifest was
 * removed or changed terminates, and its successor waits for that.
 */
export class StaticPods {
  /** By source, then by the pods' full names. */
  readonly #sources = new Map<string, ReadonlyMap<string, core.Pod>>();
  readonly #running = new Map<string, StaticPod>();
  readonly #mirrors = new Map<string, core.Pod>();
  readonly #reconciling = new Map<string, Promise<void>>();
  readonly #dirty = new Set<string>();

  constructor(
    private readonly sourceCount: number,
    private readonly deps: StaticPodsDeps,
    private readonly signal: AbortSignal,
  ) {}

  /** Every source has been read: other pods have no manifest. */
  get isComplete(): boolean {
    return this.#sources.size >= this.sourceCount;
  }

  /** Replaces all pods of a source. */
  set(source: string, pods: readonly core.Pod[]): void {
    this.#sources.set(source, new Map(pods.map((pod) => [fullName(pod), pod])));
    for (const name of new Set([...this.#running.keys(), ...pods.map(fullName)])) this.#follow(name);
    if (this.isComplete) for (const name of this.#mirrors.keys()) this.#reconcile(name);
  }

  /** A mirror pod was changed or deleted. */
  observeMirror(mirror: core.Pod, isGone: boolean): void {
    const name = fullName(mirror);
    if (isGone) this.#mirrors.delete(name);
    else this.#mirrors.set(name, mirror);
    this.#running.get(name)?.worker.observeObject();
    this.#reconcile(name);
  }

  /** The pod has been cleaned up. */
  forget(uid: string): void {
    for (const [name, { pod }] of this.#running) {
      if (pod.metadata.uid !== uid) continue;
      this.#running.delete(name);
      this.#follow(name);
      this.#reconcile(name);
    }
  }

  async idle(): Promise<void> {
    await Promise.all(this.#reconciling.values());
  }

  #manifestOf(name: string): core.Pod | undefined {
    for (const pods of this.#sources.values()) {
      const pod = pods.get(name);
      if (pod !== undefined) return pod;
    }
    return undefined;
  }

  #follow(name: string): void {
    const manifest = this.#manifestOf(name);
    const current = this.#running.get(name);
    if (current === undefined) {
      if (manifest !== undefined) this.#start(name, manifest);
    } else if (manifest?.metadata.uid !== current.pod.metadata.uid) this.#end(current);
  }

  #start(name: string, pod: core.Pod): void {
    const mirror = this.#mirrors.get(name);
    const status = mirror !== undefined && isMirrorOf(mirror, pod) ? { ...mirror.status, ...pod.status } : pod.status;
    const object = { current: () => this.#mirrorOf(name, pod), remove: () => this.#removeMirror(name, pod) };
    const worker = this.deps.start({ ...pod, ...(status && { status }) }, object);
    this.#running.set(name, { pod, worker, isEnding: false });
    this.#reconcile(name);
  }

  #mirrorOf(name: string, pod: core.Pod): core.Pod | undefined {
    const mirror = this.#mirrors.get(name);
    return mirror !== undefined && isMirrorOf(mirror, pod) ? mirror : undefined;
  }

  /** Terminates it like a deletion in the API, with its grace period. */
  #end(current: StaticPod): void {
    if (current.isEnding) return;
    current.isEnding = true;
    const { pod, worker } = current;
    const deletionGracePeriodSeconds = pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    const deletionTimestamp = formatTime(this.deps.clock.now() + deletionGracePeriodSeconds * 1000);
    worker.update({ ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds } });
  }

  async #removeMirror(name: string, pod: core.Pod): Promise<void> {
    const mirror = this.#mirrorOf(name, pod);
    if (mirror !== undefined) await this.#delete(mirror);
    this.#running.get(name)?.worker.remove();
  }

  /** Serialized by name; changes in the meantime are handled afterwards. */
  #reconcile(name: string): void {
    this.#dirty.add(name);
    if (this.#reconciling.has(name)) return;
    const work = this.#reconcileAll(name).finally(() => {
      this.#reconciling.delete(name);
    });
    this.#reconciling.set(name, work);
  }

  async #reconcileAll(name: string): Promise<void> {
    while (this.#dirty.delete(name) && !this.signal.aborted) {
      try {
        await this.#reconcileMirror(name);
      } catch (error) {
        if (this.signal.aborted) return;
        this.deps.logger.warn('the mirror pod of a static pod could not be created', { pod: name, error });
        await this.deps.clock.sleep(RETRY_MS, this.signal).catch(() => {});
        this.#dirty.add(name);
      }
    }
  }

  async #reconcileMirror(name: string): Promise<void> {
    const mirror = this.#mirrors.get(name);
    const running = this.#running.get(name);
    if (running === undefined) {
      if (mirror !== undefined && this.isComplete && this.#manifestOf(name) === undefined) await this.#delete(mirror);
      return;
    }
    if (running.isEnding) return;
    const isGood = mirror !== undefined && isMirrorOf(mirror, running.pod) && mirror.metadata.deletionTimestamp === undefined;
    if (isGood) return;
    if (mirror !== undefined) await this.#delete(mirror);
    await this.#create(name, running.pod);
  }

  async #create(name: string, pod: core.Pod): Promise<void> {
    const node = this.deps.node();
    if (node === undefined) throw new Error('the node is not registered yet');
    const { uid: hash, creationTimestamp: _, ...metadata } = pod.metadata;
    const owner = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name, uid: node.metadata.uid ?? '', controller: true };
    const annotations = { ...metadata.annotations, [CONFIG_MIRROR]: metadata.annotations?.[CONFIG_HASH] ?? hash ?? '' };
    const { status: __, ...rest } = pod;
    const mirror = { ...rest, metadata: { ...metadata, annotations, ownerReferences: [owner] } };
    try {
      this.#mirrors.set(name, await this.deps.client.of(core.Pod).create(mirror));
    } catch (error) {
      if (!isStatusReason(error, 'AlreadyExists')) throw error;
      this.#mirrors.set(name, await this.deps.client.of(core.Pod).get(mirror.metadata));
      this.#dirty.add(name);
    }
    this.#running.get(name)?.worker.observeObject();
  }

  async #delete({ metadata }: core.Pod): Promise<void> {
    const { uid } = metadata;
    try {
      await this.deps.client.of(core.Pod).delete(metadata, { gracePeriodSeconds: 0, ...(uid && { preconditions: { uid } }) });
    } catch (error) {
      if (!isStatusReason(error, 'NotFound') && !isStatusReason(error, 'Conflict')) throw error;
    }
    if (this.#mirrors.get(`${metadata.namespace}/${metadata.name}`)?.metadata.uid === uid)
      this.#mirrors.delete(`${metadata.namespace}/${metadata.name}`);
  }
}

function fullName({ metadata }: core.Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function isMirrorOf(mirror: core.Pod, { metadata }: core.Pod): boolean {
  return mirror.metadata.annotations?.[CONFIG_MIRROR] === metadata.annotations?.[CONFIG_HASH];
}
