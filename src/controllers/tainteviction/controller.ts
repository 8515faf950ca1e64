import { core } from '#api';
import type { TimerHandle } from '#base';
import { keyOf, type Lister, parseKey } from '#client';
import { deepEqual, formatTime } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { markDisruptionTarget } from '../runtime/disruption-target.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { podsByNode } from '../runtime/pod-state.ts';
import { noExecuteTaints, toleratedMs } from './reconcile.ts';

const WORKERS = 8;

/** Deletes pods from nodes with NoExecute taints, once they no longer tolerate them. */
export const taintEvictionController: Controller = {
  name: 'taint-eviction-controller',
  aliases: ['tainteviction'],
  enabledByDefault: true,
  start: (context) => new TaintEvictionController(context),
};

interface PlannedEviction {
  readonly startedAt: number;
  readonly dueAt: number;
  readonly timer: TimerHandle;
}

class TaintEvictionController implements RunningController {
  readonly #nodes: Lister<core.Node>;
  readonly #pods: Lister<core.Pod>;
  readonly #podsOn: (node: string) => readonly core.Pod[];
  readonly #evictions: KeyedController;
  readonly #planned = new Map<string, PlannedEviction>();

  constructor(private readonly context: ControllerContext) {
    const { informers } = context;
    const nodes = informers.of(core.Node);
    const pods = informers.of(core.Pod);
    this.#nodes = nodes.lister;
    this.#pods = pods.lister;
    this.#podsOn = podsByNode(pods);
    this.#evictions = new KeyedController(context, {
      name: 'taint_eviction',
      concurrency: WORKERS,
      isExpected: isGone,
      objects: pods.lister,
      sync: (key) => this.#evict(key),
    });
    nodes.addHandler({
      add: (node) => this.#nodeChanged(node),
      update: (before, node) => {
        if (!deepEqual([...noExecuteTaints(before)], [...noExecuteTaints(node)])) this.#nodeChanged(node);
      },
    });
    pods.addHandler({
      add: (pod) => this.#podChanged(pod),
      update: (before, pod) => {
        const isSame = before.spec?.nodeName === pod.spec?.nodeName && deepEqual(before.spec?.tolerations, pod.spec?.tolerations);
        if (!isSame) this.#podChanged(pod);
      },
      delete: (pod) => this.#cancel(pod),
    });
  }

  async run(): Promise<void> {
    await this.#evictions.run();
    for (const { timer } of this.#planned.values()) timer.cancel();
  }

  #nodeChanged(node: core.Node): void {
    for (const pod of this.#podsOn(node.metadata.name)) this.#plan(pod, node);
  }

  #podChanged(pod: core.Pod): void {
    const node = this.#nodes.get({ name: pod.spec?.nodeName ?? '' });
    if (node !== undefined) this.#plan(pod, node);
  }

  #plan(pod: core.Pod, node: core.Node): void {
    const taints = noExecuteTaints(node);
    const tolerated = taints.length === 0 ? Infinity : toleratedMs(taints, pod.spec?.tolerations ?? []);
    if (tolerated === Infinity) {
      this.#cancel(pod);
      return;
    }
    const now = this.context.clock.now();
    const planned = this.#planned.get(keyOf(pod));
    // A later taint does not extend the time of the first.
    const startedAt = tolerated === 0 ? now : (planned?.startedAt ?? now);
    if (planned !== undefined) {
      if (tolerated > 0 && startedAt + tolerated < now + tolerated) return;
      this.#cancel(pod);
    }
    this.#schedule(pod, startedAt, Math.max(0, startedAt + tolerated - now));
  }

  #schedule(pod: core.Pod, startedAt: number, delayMs: number): void {
    const key = keyOf(pod);
    const { clock } = this.context;
    const fire = () => {
      this.#planned.delete(key);
      this.#evictions.queue.add(key);
    };
    if (delayMs === 0) fire();
    else this.#planned.set(key, { startedAt, dueAt: startedAt + delayMs, timer: clock.setTimer(delayMs, fire) });
  }

  #cancel(pod: core.Pod): void {
    const key = keyOf(pod);
    const planned = this.#planned.get(key);
    if (planned === undefined) return;
    planned.timer.cancel();
    this.#planned.delete(key);
    this.#recordEvent(key, `Cancelling deletion of Pod ${key}`);
  }

  #recordEvent(key: string, message: string): void {
    const { name, namespace = '' } = parseKey(key);
    const events = this.context.recorder('taint-eviction-controller');
    events.normal({ apiVersion: 'v1', kind: 'Pod', name, namespace }, 'TaintManagerEviction', message);
  }

  /** Whether the taint was removed while the eviction was retried. */
  #isTolerated({ spec }: core.Pod): boolean {
    const node = this.#nodes.get({ name: spec?.nodeName ?? '' });
    return node !== undefined && toleratedMs(noExecuteTaints(node), spec?.tolerations ?? []) === Infinity;
  }

  async #evict(key: string): Promise<void> {
    const pod = this.#pods.get(parseKey(key));
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || this.#isTolerated(pod)) return;
    this.#recordEvent(key, `Marking for deletion Pod ${key}`);
    const { client, clock } = this.context;
    const { name, namespace, generation } = pod.metadata;
    const message = 'Taint manager: deleting due to NoExecute taint';
    const observed = { lastTransitionTime: formatTime(clock.now()), ...(generation !== undefined && { observedGeneration: generation }) };
    await markDisruptionTarget(pod, { reason: 'DeletionByTaintManager', message, ...observed }, client);
    await client.of(core.Pod).delete({ name, namespace });
  }
}
