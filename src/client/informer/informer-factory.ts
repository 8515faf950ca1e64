import type { Kind } from '#api';
import { onAbort, realClock, silentLogger, systemRandom } from '#base';
import type { Client } from '../client.ts';
import type { Identified, KubeObject } from '../kube-object.ts';
import type { ResourceClient } from '../resource-client.ts';
import type { ResourceRef } from '../resource-path.ts';
import { type InformerDeps, type InformerOptions, SharedInformer } from './shared-informer.ts';

/** Shares one informer per kind and selection. Informers start with `start`, or immediately if the factory has started. */
export class InformerFactory {
  readonly #informers = new Map<string, SharedInformer<Identified>>();
  #signal: AbortSignal | undefined;
  #registration: Disposable | undefined;

  constructor(
    private readonly client: Client,
    private readonly deps: InformerDeps = { clock: realClock, random: systemRandom, logger: silentLogger },
  ) {}

  of<T extends Identified>(kind: Kind<T>, options: InformerOptions = {}): SharedInformer<T> {
    return this.#informer(this.client.of(kind) as unknown as ResourceClient<Identified>, options) as unknown as SharedInformer<T>;
  }

  /** For kinds that are only known at run time. */
  resource(ref: ResourceRef, options: InformerOptions = {}): SharedInformer<KubeObject> {
    return this.#informer(
      this.client.resource(ref) as unknown as ResourceClient<Identified>,
      options,
    ) as unknown as SharedInformer<KubeObject>;
  }

  #informer(client: ResourceClient<Identified>, options: InformerOptions): SharedInformer<Identified> {
    const id = idOf(client.ref, options);
    let informer = this.#informers.get(id);
    if (informer === undefined) {
      informer = new SharedInformer(client, this.deps, options);
      this.#informers.set(id, informer);
      if (this.#signal && !this.#signal.aborted) informer.begin();
    }
    return informer;
  }

  /** Starts all informers, including those created later, until the signal aborts. */
  start(signal: AbortSignal): void {
    this.#signal = signal;
    for (const informer of this.#informers.values()) informer.begin();
    this.#registration = onAbort(signal, (reason) => {
      for (const informer of this.#informers.values()) informer.abort(reason);
    });
  }

  /** Resolves when all informers have synced. */
  async synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced));
  }

  get hasSynced(): boolean {
    return [...this.#informers.values()].every((informer) => informer.hasSynced);
  }

  /** Stops and removes the informer of a resource that is no longer served, unless it still has handlers. */
  async release(ref: ResourceRef, options: InformerOptions = {}): Promise<void> {
    const id = idOf(ref, options);
    const informer = this.#informers.get(id);
    if (informer?.hasHandlers) return;
    this.#informers.delete(id);
    await informer?.stop();
  }

  /** Stops all informers; resolves when everything is closed. */
  async stop(): Promise<void> {
    this.#registration?.[Symbol.dispose]();
    const reason = new DOMException('the informers were stopped', 'AbortError');
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop(reason)));
  }
}

function idOf(ref: ResourceRef, { namespace = '', labelSelector = '', fieldSelector = '', metadataOnly = false }: InformerOptions): string {
  return [ref.group, ref.version, ref.resource, namespace, labelSelector, fieldSelector, metadataOnly].join('\n');
}
