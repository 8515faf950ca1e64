import { core } from '#api';
import { Backoff, isAbort } from '#base';
import { type Client, type EventRecorder, keyOf } from '#client';
import { isStatusReason } from '#machinery';
import type { ControllerContext } from '../../runtime/controller.ts';
import { recyclerPod } from './recycler-pod.ts';

type Volume = core.PersistentVolume;

/** As upstream's operations on volumes. */
const RETRY = { initialMs: 500, maxMs: 122_000 };

export interface VolumeRecyclerHooks {
  /** The volume is empty. */
  recycled(volume: Volume): Promise<void>;
  /** Retried with the volume's next sync. */
  failed(volume: Volume, message: string): Promise<void>;
}

interface Attempts {
  readonly backoff: Backoff;
  isRunning: boolean;
  nextMs: number;
}

/** Empties released volumes by recycler pods, one at a time for each volume. */
export class VolumeRecycler {
  readonly #attempts = new Map<string, Attempts>();
  /** Called with the states of the active recycler pods, by uid; undefined when one is gone. */
  readonly #watched = new Map<string, (pod: core.Pod | undefined) => void>();
  readonly #running = new Set<Promise<void>>();
  readonly #client: Client;

  constructor(
    private readonly context: ControllerContext,
    private readonly events: EventRecorder,
    private readonly hooks: VolumeRecyclerHooks,
  ) {
    this.#client = context.client;
    context.informers.of(core.Pod).addHandler({
      add: (pod) => this.#watched.get(pod.metadata.uid ?? '')?.(pod),
      update: (_, pod) => this.#watched.get(pod.metadata.uid ?? '')?.(pod),
      delete: (pod) => this.#watched.get(pod.metadata.uid ?? '')?.(undefined),
    });
  }

  /** Starts unless it is in progress, or failed recently. */
  recycle(volume: Volume): void {
    const { name } = volume.metadata;
    const attempts = this.#attempts.get(name) ?? { backoff: new Backoff(RETRY), isRunning: false, nextMs: 0 };
    if (attempts.isRunning || this.context.clock.now() < attempts.nextMs) return;
    this.#attempts.set(name, attempts);
    attempts.isRunning = true;
    const running = this.#run(volume, attempts).finally(() => {
      attempts.isRunning = false;
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  forget(name: string): void {
    this.#attempts.delete(name);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(volume: Volume, attempts: Attempts): Promise<void> {
    const { signal, logger, clock } = this.context;
    const { name } = volume.metadata;
    try {
      const problem = await this.#empty(volume);
      if (problem === undefined) await this.hooks.recycled(volume);
      else await this.hooks.failed(volume, `Recycle failed: ${problem}`);
      if (problem === undefined) return this.forget(name);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      logger.warn('a volume could not be recycled; trying again', { volume: name, error });
    }
    attempts.nextMs = clock.now() + attempts.backoff.next();
  }

  /** Runs the recycler pod until it terminates. Resolves to its error, in upstream's words. */
  async #empty(volume: Volume): Promise<string | undefined> {
    const pods = this.#client.of(core.Pod);
    const draft = recyclerPod(volume, this.context.options.pvRecyclers);
    const key = { name: draft.metadata?.name ?? '', namespace: draft.metadata?.namespace };
    let pod: core.Pod;
    try {
      pod = await pods.create(draft);
    } catch (error) {
      if (!isStatusReason(error, 'AlreadyExists')) return `unexpected error creating recycler pod:  ${(error as Error).message}`;
      // Of a controller manager that was killed: what it did is not known.
      await pods.delete(key).catch(ignoreGone);
      return 'old recycler pod found, will retry later';
    }
    try {
      return await this.#watch(volume, pod);
    } finally {
      await pods.delete(key).catch(ignoreGone);
    }
  }

  async #watch(volume: Volume, pod: core.Pod): Promise<string | undefined> {
    const { uid = '' } = pod.metadata;
    const stop = new AbortController();
    const ending = AbortSignal.any([stop.signal, this.context.signal]);
    const eventWatch = this.#repeatEvents(volume, pod, ending);
    try {
      return await new Promise<string | undefined>((resolve, reject) => {
        ending.addEventListener('abort', () => reject(ending.reason), { once: true });
        this.#watched.set(uid, (state) => {
          if (state === undefined) resolve('recycler pod was deleted');
          else if (state.status?.phase === 'Succeeded') resolve(undefined);
          else if (state.status?.phase === 'Failed') resolve(state.status.message || 'pod failed, pod.Status.Message unknown');
        });
        const seen = this.context.informers.of(core.Pod).lister.get(pod.metadata);
        if (seen?.metadata.uid === uid) this.#watched.get(uid)?.(seen);
      });
    } finally {
      this.#watched.delete(uid);
      stop.abort();
      await eventWatch;
    }
  }

  /** Repeats the events of the pod on the volume, until the signal aborts. */
  async #repeatEvents(volume: Volume, { metadata }: core.Pod, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid = '' } = metadata;
    const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${name}`;
    try {
      for await (const event of this.#client.of(core.Event).watch({ namespace, fieldSelector, signal })) {
        if ((event.type !== 'ADDED' && event.type !== 'MODIFIED') || event.object.involvedObject?.uid !== uid) continue;
        const { object } = event;
        const severity = object.type === 'Warning' ? 'Warning' : 'Normal';
        this.events.record(volume, { type: severity, reason: 'RecyclerPod', message: `Recycler pod: ${object.message ?? ''}` });
      }
    } catch (error) {
      if (!signal.aborted) this.context.logger.debug('events of a recycler pod cannot be watched', { pod: keyOf({ metadata }), error });
    }
  }
}

function ignoreGone(error: unknown): void {
  if (!isStatusReason(error, 'NotFound')) throw error;
}
