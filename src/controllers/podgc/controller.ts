import { core } from '#api';
import { repeat } from '#base';
import { formatTime } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { isGone } from '../runtime/keyed-controller.ts';
import { isPodTerminal } from '../runtime/pod-state.ts';
import { type Deletion, podsToCollect } from './reconcile.ts';

const INTERVAL_MS = 20_000;
/** A node that is missing may only have been created later than its pods were seen. */
const QUARANTINE_MS = 40_000;

/** Deletes pods of nodes that no longer exist, terminating pods that were never scheduled, and finished pods beyond a threshold. */
export const podGcController: Controller = {
  name: 'pod-garbage-collector-controller',
  aliases: ['podgc'],
  enabledByDefault: true,
  start: (context) => new PodGcController(context),
};

class PodGcController implements RunningController {
  /** Since when a node that pods name is missing. */
  readonly #missing = new Map<string, number>();
  /** Whether there may be something to collect that the last look did not see, or only passed over for the time being. */
  #hasNews = true;

  constructor(private readonly context: ControllerContext) {
    const notice = () => {
      this.#hasNews = true;
    };
    context.informers.of(core.Pod).addHandler({ add: notice, update: notice, delete: notice });
    context.informers.of(core.Node).addHandler({ add: notice, delete: notice });
  }

  run(): Promise<void> {
    const { clock, signal, logger } = this.context;
    return repeat({ clock, signal, intervalMs: INTERVAL_MS }, () =>
      this.#collect().catch((error: unknown) => {
        if (!signal.aborted) logger.error('cannot collect pods', { error });
      }),
    );
  }

  async #collect(): Promise<void> {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    const { informers, options } = this.context;
    const pods = informers.of(core.Pod).lister.list();
    const nodes = informers.of(core.Node).lister;
    const lostNodes = await this.#lostNodes(pods);
    const node = (name: string) => nodes.get({ name });
    const deletions = podsToCollect({ pods, node, lostNodes, terminatedThreshold: options.terminatedPodGcThreshold });
    // A node that is missing becomes a lost one, and that of a pod which is being deleted may be taken out of service.
    if (this.#missing.size > 0 || pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) this.#hasNews = true;
    await Promise.all(deletions.map((deletion) => this.#delete(deletion)));
  }

  async #lostNodes(pods: readonly core.Pod[]): Promise<ReadonlySet<string>> {
    const { informers, clock } = this.context;
    const nodes = informers.of(core.Node).lister;
    const named = new Set<string>();
    for (const { spec } of pods) if (spec?.nodeName) named.add(spec.nodeName);
    const missing = [...named].filter((name) => nodes.get({ name }) === undefined);
    for (const name of this.#missing.keys()) if (!missing.includes(name)) this.#missing.delete(name);
    for (const name of missing) if (!this.#missing.has(name)) this.#missing.set(name, clock.now());
    const overdue = missing.filter((name) => clock.now() - (this.#missing.get(name) ?? 0) >= QUARANTINE_MS);
    const lost = await Promise.all(overdue.map(async (name) => ((await this.#exists(name)) ? [] : [name])));
    return new Set(lost.flat());
  }

  async #exists(name: string): Promise<boolean> {
    try {
      await this.context.client.of(core.Node).get({ name });
      return true;
    } catch (error) {
      return !isGone(error);
    }
  }

  async #delete({ pod, message }: Deletion): Promise<void> {
    const { client, logger } = this.context;
    const { name, namespace, uid } = pod.metadata;
    try {
      if (!isPodTerminal(pod)) {
        const conditions = message === undefined ? {} : { conditions: [this.#condition(pod, message)] };
        const patch = { metadata: { uid }, status: { phase: 'Failed', ...observedGeneration(pod), ...conditions } };
        await client.of(core.Pod).patch({ name, namespace }, patch, { type: 'strategic', subresource: 'status' });
      }
      await client.of(core.Pod).delete({ name, namespace }, { gracePeriodSeconds: 0 });
    } catch (error) {
      if (isGone(error)) return;
      this.#hasNews = true;
      logger.warn('cannot delete a pod', { pod: `${namespace}/${name}`, error });
    }
  }

  #condition(pod: core.Pod, message: string) {
    const lastTransitionTime = formatTime(this.context.clock.now());
    return { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message, lastTransitionTime, ...observedGeneration(pod) };
  }
}

function observedGeneration({ metadata }: core.Pod): { readonly observedGeneration?: number } {
  return metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
}
