import { core } from '#api';
import { repeat } from '#base';
import { formatTime } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { isGone } from '../runtime/keyed-controller.ts';
import { type Deletion, podsToCollect } from './reconcile.ts';

const INTERVAL_MS = 20_000;
/** A missing node may not be in the cache yet: its pods are kept for this time. */
const QUARANTINE_MS = 40_000;

/** Deletes pods of nodes that no longer exist, terminating pods that were never scheduled, and finished pods beyond a threshold. */
export const podGcController: Controller = {
  name: 'pod-garbage-collector-controller',
  aliases: ['podgc'],
  enabledByDefault: true,
  start: (context) => new PodGcController(context),
};

class PodGcController implements RunningController {
  /** Nodes that pods name and that do not exist, with the time since when. */
  readonly #missing = new Map<string, number>();
  /** Whether something changed since the last pass, or the last pass skipped pods. */
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
    const onError = (error: unknown) => logger.error('cannot collect pods', { error });
    return repeat({ clock, signal, intervalMs: INTERVAL_MS, onError }, () => this.#collect());
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
    // Time alone can make a missing node a lost one, and out-of-service taints affect deleted pods.
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
    const deletedNodes = await Promise.all(overdue.map(async (name) => ((await this.#exists(name)) ? [] : [name])));
    return new Set(deletedNodes.flat());
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
      if (!core.isPodTerminal(pod)) {
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
