import { autoscalingV2, core } from '#api';
import type { RateLimiter } from '#base';
import { type EventRecorder, keyOf, type Lister, parseKey } from '#client';
import type { Selector } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { type ActionLabel, AutoscalerMetrics, actionOf } from './autoscaler-metrics.ts';
import { behaviourOf, withChange } from './limit-replicas.ts';
import { MetricsReader } from './metrics-reader.ts';
import { MetricFailure, type Proposal, type ProposalContext, proposeReplicas } from './propose-replicas.ts';
import {
  type Autoscaler,
  type Conditions,
  decide,
  evaluateMetrics,
  lookFirst,
  scaleNumbers,
  tolerancesOf,
  withConditions,
  withoutScaledToZero,
  withScalingCondition,
  withStatus,
} from './reconcile.ts';
import { ResourceLookup } from './resource-lookup.ts';
import { readTarget, resize, type ScaleTarget, type ScaleTargetDeps } from './scale-target.ts';
import { newHistory, type ScalingHistory } from './scaling-history.ts';
import { TargetSelectorError, TargetSelectors } from './target-selectors.ts';

/** Scales workloads by their metrics. */
export const horizontalPodAutoscalerController: Controller = {
  name: 'horizontal-pod-autoscaler-controller',
  aliases: ['horizontalpodautoscaling'],
  enabledByDefault: true,
  start: (context) => new HorizontalPodAutoscalerController(context),
};

/** The state of one sync of an autoscaler. */
interface Look {
  readonly key: string;
  readonly autoscaler: Autoscaler;
  readonly namespace: string;
  readonly target: ScaleTarget;
  /** The target's current number of replicas. */
  readonly current: number;
  readonly conditions: Conditions;
  readonly now: number;
}

interface Change {
  readonly replicas: number;
  readonly reason: string;
  readonly conditions: Conditions;
  readonly metrics?: readonly autoscalingV2.MetricStatus[];
}

class HorizontalPodAutoscalerController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #events: EventRecorder;
  readonly #autoscalers: Lister<autoscalingV2.HorizontalPodAutoscaler>;
  readonly #pods: Lister<core.Pod>;
  readonly #targets: ScaleTargetDeps;
  readonly #reader: MetricsReader;
  readonly #selectors = new TargetSelectors();
  readonly #histories = new Map<string, ScalingHistory>();
  readonly #metrics: AutoscalerMetrics;

  constructor(private readonly context: ControllerContext) {
    const { informers, options } = context;
    const autoscalers = informers.of(autoscalingV2.HorizontalPodAutoscaler);
    this.#autoscalers = autoscalers.lister;
    this.#pods = informers.of(core.Pod).lister;
    this.#events = context.recorder('horizontal-pod-autoscaler');
    const lookup = new ResourceLookup(context);
    this.#targets = { ...context, lookup };
    this.#reader = new MetricsReader({ ...context, lookup });
    this.#metrics = new AutoscalerMetrics(context);
    this.#keyed = new KeyedController(context, {
      name: 'horizontalpodautoscaler',
      concurrency: options.concurrentHorizontalPodAutoscalerSyncs,
      rateLimiter: everyTime(options.horizontalPodAutoscalerSyncPeriodMs),
      isExpected: (error) => isGone(error) || error instanceof UnscaledError,
      objects: autoscalers.lister,
      sync: (key) => this.#sync(key),
    });
    const came = (autoscaler: autoscalingV2.HorizontalPodAutoscaler) => this.#autoscalerAdded(keyOf(autoscaler));
    autoscalers.addHandler({
      add: came,
      update: (_, autoscaler) => came(autoscaler),
      delete: (deleted) => this.#autoscalerDeleted(deleted),
    });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  /** A new autoscaler is synced after one period: metrics need time. */
  #autoscalerAdded(key: string): void {
    this.#keyed.queue.addRateLimited(key);
    this.#selectors.add(key);
    this.#metrics.counted(this.#selectors.size);
  }

  #autoscalerDeleted(autoscaler: autoscalingV2.HorizontalPodAutoscaler): void {
    const key = keyOf(autoscaler);
    this.#metrics.forget(autoscaler.metadata);
    this.#selectors.delete(key);
    this.#histories.delete(key);
    this.#metrics.counted(this.#selectors.size);
  }

  async #sync(key: string): Promise<{ afterMs: number } | undefined> {
    const autoscaler = this.#autoscalers.get(parseKey(key));
    if (autoscaler?.spec === undefined) return undefined;
    await this.#metrics.observe(() => this.#reconcile(key, autoscaler as Autoscaler));
    return { afterMs: this.context.options.horizontalPodAutoscalerSyncPeriodMs };
  }

  async #reconcile(key: string, autoscaler: Autoscaler): Promise<ActionLabel> {
    const { namespace = '' } = autoscaler.metadata;
    const now = this.context.clock.now();
    const target = await this.#target(autoscaler, namespace, now);
    const message = "the HPA controller was able to get the target's current scale";
    const ableToScale = { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale', message } as const;
    const conditions = withScalingCondition(autoscaler.status?.conditions, ableToScale, now);
    const current = scaleNumbers(target.scale).specReplicas;
    if (!this.#histories.has(key)) this.#histories.set(key, newHistory(current, now));
    return this.#act({ key, autoscaler, namespace, target, current, conditions, now });
  }

  async #target(autoscaler: Autoscaler, namespace: string, now: number): Promise<ScaleTarget> {
    const reference = autoscaler.spec.scaleTargetRef;
    try {
      return await readTarget({ reference, namespace }, this.#targets);
    } catch (error) {
      const { message } = error as Error;
      this.#events.warning(autoscaler, 'FailedGetScale', message);
      const condition = { type: 'AbleToScale', status: 'False', reason: 'FailedGetScale' } as const;
      const text = `the HPA controller was unable to get the target's current scale: ${message}`;
      const conditions = withScalingCondition(autoscaler.status?.conditions, { ...condition, message: text }, now);
      await this.#write(autoscaler, withConditions(autoscaler, conditions));
      const place = `${reference.kind}/${namespace}/${reference.name}`;
      throw new UnscaledError(`failed to query scale subresource for ${place}: ${message}`, { cause: error });
    }
  }

  async #act(look: Look): Promise<ActionLabel> {
    const first = lookFirst(look.autoscaler, look.current);
    switch (first.type) {
      case 'disabled':
        return this.#reportDisabled(look);
      case 'bounded':
        return this.#rescale(look, { ...first, conditions: look.conditions });
      case 'measure':
        return this.#measure(look);
      default:
        throw first satisfies never;
    }
  }

  async #reportDisabled({ autoscaler, current, conditions, now }: Look): Promise<ActionLabel> {
    const message = 'scaling is disabled since the replica count of the target is zero';
    const off = withScalingCondition(conditions, { type: 'ScalingActive', status: 'False', reason: 'ScalingDisabled', message }, now);
    await this.#write(
      autoscaler,
      withStatus(autoscaler, { current, desired: current, metrics: undefined, conditions: withoutScaledToZero(off) }),
    );
    return 'none';
  }

  async #measure(look: Look): Promise<ActionLabel> {
    const { key, autoscaler, current, now } = look;
    const results = await this.#resultsOf(look);
    const result = evaluateMetrics(results, current);
    const conditions = withScalingCondition(look.conditions, result.condition, now);
    if (result.desired === undefined) {
      return this.#fail({ ...look, conditions }, { metrics: result.statuses, problem: result.problem ?? '' });
    }
    const downWindowMs = this.context.options.horizontalPodAutoscalerDownscaleStabilizationMs;
    const history = this.#histories.get(key) ?? newHistory(current, now);
    const decision = decide(autoscaler, { current, desired: result.desired, conditions, history, downWindowMs, now });
    this.#histories.set(key, decision.history);
    const metrics = result.statuses;
    if (decision.replicas !== current) return this.#rescale(look, { ...decision, metrics });
    await this.#write(autoscaler, withStatus(autoscaler, { current, desired: current, metrics, conditions: decision.conditions }));
    // Scaled by the available metrics; the error is still reported.
    if (result.problem !== undefined) throw new UnscaledError(result.problem);
    return 'none';
  }

  async #resultsOf(look: Look): Promise<readonly (Proposal | MetricFailure)[]> {
    const { autoscaler, namespace, target } = look;
    const selector = await this.#selectorOf(look);
    const { specReplicas, statusReplicas } = scaleNumbers(target.scale);
    const { options } = this.context;
    const view: Omit<ProposalContext, 'pods' | 'now'> = {
      namespace,
      specReplicas,
      statusReplicas,
      tolerances: tolerancesOf(autoscaler, options.horizontalPodAutoscalerTolerance),
      periods: {
        cpuInitializationMs: options.horizontalPodAutoscalerCpuInitializationPeriodMs,
        initialReadinessDelayMs: options.horizontalPodAutoscalerInitialReadinessDelayMs,
      },
    };
    const results: (Proposal | MetricFailure)[] = [];
    for (const spec of autoscaler.spec.metrics ?? []) {
      const result = await this.#metrics.observeMetric(spec.type, look.current, () => this.#propose(spec, selector, view));
      if (result instanceof MetricFailure) this.#events.warning(autoscaler, result.reason, result.detail);
      results.push(result);
    }
    return results;
  }

  async #propose(spec: autoscalingV2.MetricSpec, selector: Selector, view: Omit<ProposalContext, 'pods' | 'now'>) {
    const { namespace } = view;
    const reading = await this.#reader.read(spec, { namespace, selector });
    try {
      return proposeReplicas(spec, reading, { ...view, pods: this.#podsOf(namespace, selector), now: this.context.clock.now() });
    } catch (error) {
      if (error instanceof MetricFailure) return error;
      throw error;
    }
  }

  #podsOf(namespace: string, selector: Selector): readonly core.Pod[] {
    return this.#pods.list(namespace).filter(({ metadata }) => selector.matches(metadata.labels));
  }

  async #selectorOf(look: Look): Promise<Selector> {
    const { key, autoscaler, namespace, now } = look;
    const { selector: text } = scaleNumbers(look.target.scale);
    try {
      const selector = this.#selectors.parse(key, text);
      this.#selectors.checkAlone(namespace, text, this.#podsOf(namespace, selector));
      return selector;
    } catch (error) {
      if (!(error instanceof TargetSelectorError)) throw error;
      this.#events.warning(autoscaler, error.eventReason, error.message);
      const { conditionReason: reason, conditionMessage: message } = error;
      const conditions = withScalingCondition(look.conditions, { type: 'ScalingActive', status: 'False', reason, message }, now);
      return this.#fail({ ...look, conditions }, { metrics: undefined, problem: error.message });
    }
  }

  /** Reports why the metrics are unavailable, and throws. */
  async #fail(
    { autoscaler, namespace, current, conditions }: Look,
    { metrics, problem }: { readonly metrics: readonly autoscalingV2.MetricStatus[] | undefined; readonly problem: string },
  ): Promise<never> {
    const desired = autoscaler.status?.desiredReplicas ?? 0;
    await this.#write(autoscaler, withStatus(autoscaler, { current, desired, metrics, conditions }));
    this.#events.warning(autoscaler, 'FailedComputeMetricsReplicas', problem);
    const { kind, name } = autoscaler.spec.scaleTargetRef;
    const place = `${kind}/${namespace}/${name}`;
    throw new UnscaledError(`failed to compute desired number of replicas based on listed metrics for ${place}: ${problem}`);
  }

  async #rescale(look: Look, { replicas, reason, conditions, metrics }: Change): Promise<ActionLabel> {
    const { autoscaler, current, now } = look;
    await this.#resize(look, { replicas, reason, conditions, ...(metrics && { metrics }) });
    const message = `the HPA controller was able to update the target scale to ${replicas}`;
    const scaled = withScalingCondition(conditions, { type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message }, now);
    this.#events.normal(autoscaler, 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`);
    this.#remember(look, replicas);
    const status = { current, desired: replicas, metrics, conditions: withoutScaledToZero(scaled), scaledAt: this.context.clock.now() };
    await this.#write(autoscaler, withStatus(autoscaler, status));
    return actionOf(replicas, current);
  }

  async #resize(look: Look, { replicas, reason, conditions, metrics }: Change): Promise<void> {
    const { autoscaler, target, current, now } = look;
    try {
      await resize(target, replicas, this.#targets);
    } catch (error) {
      const { message } = error as Error;
      this.#events.warning(autoscaler, 'FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${message}`);
      const text = `the HPA controller was unable to update the target scale: ${message}`;
      const failed = withScalingCondition(
        conditions,
        { type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale', message: text },
        now,
      );
      const desired = autoscaler.status?.desiredReplicas ?? 0;
      await this.#write(autoscaler, withStatus(autoscaler, { current, desired, metrics, conditions: failed }));
      throw error;
    }
  }

  /** Only rate policies need the history. */
  #remember({ key, autoscaler, current, now }: Look, replicas: number): void {
    const { behavior } = autoscaler.spec;
    const history = this.#histories.get(key);
    if (behavior === undefined || history === undefined) return;
    const behaviour = behaviourOf(behavior, this.context.options.horizontalPodAutoscalerDownscaleStabilizationMs);
    this.#histories.set(key, withChange(history, behaviour, { from: current, to: replicas, now }));
  }

  async #write(before: Autoscaler, desired: Autoscaler): Promise<void> {
    this.#metrics.desired(desired);
    if (desired === before) return;
    try {
      await this.context.client.of(autoscalingV2.HorizontalPodAutoscaler).updateStatus(desired);
    } catch (error) {
      this.#events.warning(before, 'FailedUpdateStatus', (error as Error).message);
      throw error;
    }
  }
}

/** The autoscaler's status explains the problem: it is not a controller failure. */
class UnscaledError extends Error {
  override readonly name = 'UnscaledError';
}

/** A constant delay, also after failures. */
function everyTime(delayMs: number): RateLimiter<string> {
  return { when: () => delayMs, forget: () => {}, retries: () => 1 };
}
