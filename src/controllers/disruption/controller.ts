import { apps, core, policy } from '#api';
import { type EventRecorder, type Lister, parseKey } from '#client';
import { findCondition, formatTime, isStatusReason, labelSelectorGoText, lenientSelector } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { expectedScale } from './expected-scale.ts';
import { evaluateBudget, failedBudget, needsScale, staleTargetMs } from './reconcile.ts';

type Budget = policy.PodDisruptionBudget;

/** Computes how many pods of each disruption budget may be evicted. */
export const disruptionController: Controller = {
  name: 'disruption-controller',
  aliases: ['disruption'],
  enabledByDefault: true,
  start: (context) => new DisruptionController(context),
};

class DisruptionController implements RunningController {
  readonly #events: EventRecorder;
  readonly #budgets: Lister<Budget>;
  readonly #pods: Lister<core.Pod>;
  readonly #keyed: KeyedController;
  readonly #stale: KeyedController;

  constructor(private readonly context: ControllerContext) {
    const { informers } = context;
    this.#events = context.recorder('controllermanager');
    const budgets = informers.of(policy.PodDisruptionBudget);
    const pods = informers.of(core.Pod);
    for (const kind of [apps.Deployment, apps.ReplicaSet, apps.StatefulSet, core.ReplicationController])
      informers.of(kind as typeof apps.Deployment);
    this.#budgets = budgets.lister;
    this.#pods = pods.lister;
    this.#keyed = new KeyedController(context, {
      name: 'disruption',
      isExpected: isGone,
      objects: budgets.lister,
      sync: (key) => this.#sync(key),
    });
    this.#stale = new KeyedController(context, {
      name: 'stale_pod_disruption',
      isExpected: isGone,
      objects: pods.lister,
      sync: (key) => this.#clean(key),
    });
    budgets.addHandler({ add: (budget) => this.#keyed.enqueue(budget), update: (_, budget) => this.#keyed.enqueue(budget) });
    pods.addHandler({
      add: (pod) => this.#podChanged(pod),
      update: (before, pod) => {
        if (before.metadata.labels !== pod.metadata.labels) this.#podChanged(before);
        this.#podChanged(pod);
      },
      delete: (pod) => this.#podChanged(pod),
    });
  }

  async run(): Promise<void> {
    await Promise.all([this.#keyed.run(), this.#stale.run()]);
  }

  #podChanged(pod: core.Pod): void {
    const { namespace } = pod.metadata;
    for (const budget of this.#budgets.list(namespace)) {
      if (covers(budget, pod)) this.#keyed.enqueueCoalesced(budget, this.#pods.count(namespace));
    }
    const staleMs = staleTargetMs(pod, this.context.clock.now());
    if (staleMs !== undefined) this.#stale.enqueueAfter(pod, staleMs);
  }

  async #sync(key: string): Promise<void> {
    const budget = this.#budgets.get(parseKey(key));
    if (budget === undefined) return;
    try {
      await this.#evaluate(budget);
    } catch (error) {
      if (isStatusReason(error, 'Conflict') || isGone(error)) throw error;
      // Reported in the status; retried when something changes.
      const failed = failedBudget(budget, (error as Error).message, this.context.clock.now());
      await this.context.client.of(policy.PodDisruptionBudget).updateStatus(failed);
    }
  }

  async #evaluate(budget: Budget): Promise<void> {
    const { client, clock } = this.context;
    const selector = lenientSelector(budget.spec?.selector);
    const pods = this.#pods.list(budget.metadata.namespace).filter(({ metadata }) => selector.matches(metadata.labels));
    if (pods.length === 0) this.#events.normal(budget, 'NoPods', 'No matching pods found');
    const scale = needsScale(budget) ? await this.#scale(budget, pods) : 0;
    const { budget: desired, overdue, recheckMs } = evaluateBudget(budget, pods, { scale, now: clock.now() });
    const { namespace } = budget.metadata;
    for (const pod of overdue) {
      this.#events.warning(pod, 'NotDeleted', `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`);
    }
    if (desired !== budget) await client.of(policy.PodDisruptionBudget).updateStatus(desired);
    if (recheckMs !== undefined) this.#keyed.enqueueAfter(budget, recheckMs);
  }

  async #scale(budget: Budget, pods: readonly core.Pod[]): Promise<number> {
    try {
      const { count, unmanaged } = await expectedScale(pods, this.context);
      if (unmanaged.length > 0) this.#events.warning(budget, 'UnmanagedPods', unmanagedText(budget));
      return count;
    } catch (error) {
      const message = `Failed to calculate the number of expected pods: ${(error as Error).message}`;
      this.#events.warning(budget, 'CalculateExpectedPodCountFailed', message);
      throw error;
    }
  }

  /** Clears a DisruptionTarget condition that was not followed by a deletion. */
  async #clean(key: string): Promise<void> {
    const { client, clock } = this.context;
    const pod = this.#pods.get(parseKey(key));
    const staleMs = pod && staleTargetMs(pod, clock.now());
    if (pod === undefined || staleMs === undefined) return;
    if (staleMs > 0) {
      this.#stale.enqueueAfter(pod, staleMs);
      return;
    }
    const target = findCondition(pod.status?.conditions, 'DisruptionTarget');
    const { reason: _reason, message: _message, ...rest } = target!;
    const cleaned = { ...rest, status: 'False', lastTransitionTime: formatTime(clock.now()) };
    const conditions = (pod.status?.conditions ?? []).map((condition) => (condition === target ? cleaned : condition));
    await client.of(core.Pod).updateStatus({ ...pod, status: { ...pod.status, conditions } });
  }
}

/** A budget without a selector matches nothing; an empty selector matches all pods. */
function covers({ spec }: Budget, { metadata }: core.Pod): boolean {
  return lenientSelector(spec?.selector).matches(metadata.labels);
}

function unmanagedText({ spec }: Budget): string {
  const selector = labelSelectorGoText(spec?.selector);
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB cannot be ` +
    'calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB ' +
    'to an integer value.'
  );
}
