import { core, type Kind } from '#api';
import { type Identified, keyOf, keyText, type Lister, parseKey, type ResourceClient } from '#client';
import { deepEqual, isStatusReason, type Selector, StatusError } from '#machinery';
import { claimObjects } from '../claim-objects.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { controllerOf, controllerRef } from '../controller-ref.ts';
import { Expectations } from '../expectations.ts';
import { isGone, KeyedController } from '../keyed-controller.ts';
import { OwnWrites, type ResourceFollower } from '../own-writes.ts';
import { PodControl } from '../pod-control.ts';
import { isPodActive, isPodReady, isPodTerminating, nextAvailability, type PodsByController, podsByController } from '../pod-state.ts';
import { slowStartBatch } from '../slow-start-batch.ts';
import { PodCensus, type PodTally } from './pod-census.ts';
import { countReplicas, type ObservedPods, type ObservedReplicas, type ReplicaSetView, reconcileReplicas } from './reconcile.ts';

/** The differences between ReplicaSets and ReplicationControllers. */
export interface ReplicaKind<T extends Identified> {
  readonly kind: Kind<T>;
  /** The name of the queue and of the event source. */
  readonly queue: string;
  readonly component: string;
  readonly concurrency: number;
  view(set: T): ReplicaSetView;
  selector(set: T): Selector;
  template(set: T): core.PodTemplateSpec;
  /** The set with the desired status; the same object if unchanged. */
  withStatus(set: T, observed: ObservedReplicas): T;
}

/** Keeps the desired number of pods of each set. */
export class ReplicaController<T extends Identified> implements RunningController {
  readonly #keyed: KeyedController;
  readonly #expectations: Expectations;
  readonly #ownWrites = new OwnWrites();
  readonly #census = new PodCensus();
  readonly #caches: { readonly sets: ResourceFollower; readonly pods: ResourceFollower };
  readonly #control: PodControl;
  readonly #sets: Lister<T>;
  readonly #client: ResourceClient<T>;
  readonly #pods: PodsByController;
  readonly #siblings: { byIndex(name: string, value: string): readonly T[] };

  constructor(
    private readonly context: ControllerContext,
    private readonly spec: ReplicaKind<T>,
  ) {
    const { informers, client, clock } = context;
    const sets = informers.of(spec.kind);
    sets.addIndex(SIBLINGS, siblingValues);
    const pods = informers.of(core.Pod);
    this.#caches = { sets, pods };
    this.#sets = sets.lister;
    this.#siblings = sets.lister;
    this.#client = client.of(spec.kind);
    this.#pods = podsByController(pods);
    this.#expectations = new Expectations(clock);
    this.#control = new PodControl({ client, events: context.recorder(spec.component) });
    this.#keyed = new KeyedController(context, {
      name: spec.queue,
      concurrency: spec.concurrency,
      isExpected: isGone,
      objects: sets.lister,
      sync: (key) => this.#sync(key),
    });
    sets.addHandler({
      add: (set) => this.#keyed.enqueue(set),
      update: (before, set) => (isSpecChanged(before, set) ? this.#keyed.enqueue(set) : this.#enqueueCoalesced(set)),
      delete: (set) => {
        this.#forget(keyOf(set));
        this.#census.forget(set.metadata.uid ?? '');
        this.#keyed.enqueue(set);
      },
    });
    pods.addHandler({
      add: (pod) => this.#podAdded(pod),
      update: (before, pod) => this.#podUpdated(before, pod),
      delete: (pod) => this.#podDeleted(pod),
    });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  // --- events of pods ------------------------------------------------------------------------------------------------

  #setOf(pod: core.Pod): T | undefined {
    const reference = controllerOf(pod);
    if (reference?.kind !== this.spec.kind.kind) return undefined;
    const set = this.#sets.get({ name: reference.name, namespace: pod.metadata.namespace });
    return set?.metadata.uid === reference.uid ? set : undefined;
  }

  #podAdded(pod: core.Pod): void {
    this.#census.added(pod);
    // A pod that is already terminating when first seen was never expected.
    if (pod.metadata.deletionTimestamp !== undefined) this.#podTerminating(pod);
    else if (controllerOf(pod) === undefined) this.#enqueueMatching(pod);
    else this.#podCreated(this.#setOf(pod));
  }

  #podCreated(set: T | undefined): void {
    if (set === undefined) return;
    this.#observe(set, (key) => this.#expectations.creationObserved(key));
  }

  #podUpdated(before: core.Pod, pod: core.Pod): void {
    this.#census.updated(before, pod);
    const areLabelsChanged = !deepEqual(before.metadata.labels, pod.metadata.labels);
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#podTerminating(pod);
      if (areLabelsChanged) this.#podTerminating(before);
      return;
    }
    const isOwnerChanged = controllerOf(before)?.uid !== controllerOf(pod)?.uid;
    const previous = isOwnerChanged ? this.#setOf(before) : undefined;
    if (previous !== undefined) this.#keyed.enqueue(previous);
    if (controllerOf(pod) === undefined) {
      if (areLabelsChanged || isOwnerChanged) this.#enqueueMatching(pod);
      return;
    }
    const set = this.#setOf(pod);
    if (set === undefined) return;
    this.#enqueueCoalesced(set);
    const { minReadySeconds } = this.spec.view(set);
    if (!isPodReady(before) && isPodReady(pod) && minReadySeconds > 0) this.#keyed.enqueueAfter(set, minReadySeconds * 1000 + 1000);
  }

  #podDeleted(pod: core.Pod): void {
    this.#census.deleted(pod);
    this.#podTerminating(pod);
  }

  #podTerminating(pod: core.Pod): void {
    const set = this.#setOf(pod);
    if (set === undefined) return;
    this.#observe(set, (key) => this.#expectations.deletionObserved(key, keyOf(pod)));
  }

  /** When the last expectation is fulfilled the key is synced at once. */
  #observe(set: T, observe: (key: string) => void): void {
    const key = keyOf(set);
    const mayActAlready = this.#expectations.satisfied(key);
    observe(key);
    if (!mayActAlready && this.#expectations.satisfied(key)) this.#keyed.enqueue(set);
    else this.#enqueueCoalesced(set);
  }

  #enqueueCoalesced(set: T): void {
    this.#keyed.enqueueCoalesced(set, this.#pods.countOwnedBy(set.metadata.uid ?? ''));
  }

  #enqueueMatching(pod: core.Pod): void {
    for (const set of this.#sets.list(pod.metadata.namespace)) {
      if (this.#selectorOf(set)?.matches(pod.metadata.labels)) this.#keyed.enqueue(set);
    }
  }

  /** Undefined when the selector is empty or invalid. */
  #selectorOf(set: T): Selector | undefined {
    try {
      const selector = this.spec.selector(set);
      return selector.isEmpty ? undefined : selector;
    } catch {
      return undefined;
    }
  }

  // --- sync of one set ---------------------------------------------------------------------------------------

  async #sync(key: string): Promise<void> {
    if (!this.#ownWrites.clearSeen(key)) return;
    const set = this.#sets.get(parseKey(key));
    if (set === undefined) return this.#forget(key);
    const mayAct = this.#expectations.satisfied(key) && set.metadata.deletionTimestamp === undefined;
    const selector = this.spec.selector(set);
    const tally = this.#tallyOf(set, selector);
    const isTooMany = tally !== undefined && tally.active > this.spec.view(set).replicas;
    if (tally === undefined || (isTooMany && mayAct)) await this.#syncPods(set, { key, selector, mayAct });
    else await this.#syncTally(set, tally, mayAct);
  }

  /** The counts of the set's pods, if they are all that a sync needs to have. */
  #tallyOf(set: T, selector: Selector): PodTally | undefined {
    const { uid = '', generation, namespace = '', deletionTimestamp } = set.metadata;
    if (deletionTimestamp !== undefined || this.spec.view(set).minReadySeconds > 0) return undefined;
    if (this.#expectations.expectedDeletions(keyOf(set)).size > 0) return undefined;
    const tally = this.#census.tallyOf(uid, generation);
    if (tally === undefined || tally.strays > 0) return undefined;
    const canAdopt = (pod: core.Pod) => isPodActive(pod) && selector.matches(pod.metadata.labels);
    return this.#pods.orphansIn(namespace).some(canAdopt) ? undefined : tally;
  }

  async #syncTally(set: T, { active, fullyLabeled, ready, terminating }: PodTally, mayAct: boolean): Promise<void> {
    const pods = { count: active, active: () => this.#pods.ownedBy(set.metadata.uid ?? ''), related: () => this.#relatedPods(set) };
    const failure = mayAct ? await this.#manage(set, pods) : undefined;
    const counts = { replicas: active, fullyLabeledReplicas: fullyLabeled, readyReplicas: ready, availableReplicas: ready };
    const reported = failure && this.#reported(set, active, failure.error);
    await this.#updateStatus(set, { counts, terminating, failure: reported, now: this.context.clock.now() });
    if (failure) throw failure.error;
  }

  #reported(set: T, active: number, error: unknown): ObservedReplicas['failure'] {
    return { surplus: active - this.spec.view(set).replicas, message: (error as Error).message };
  }

  /** Looks at every pod, and counts them for later syncs. */
  async #syncPods(set: T, { key, selector, mayAct }: SetSync): Promise<void> {
    const { uid = '', generation } = set.metadata;
    const own = this.#pods.ownedBy(uid);
    const view = this.spec.view(set);
    this.#census.count(uid, { generation, selector, templateLabels: view.templateLabels }, own);
    const candidates = [...own, ...this.#pods.orphansIn(set.metadata.namespace ?? '')].filter(isPodActive);
    const active = await this.#claim(set, selector, candidates);
    const pods = { count: active.length, active: () => active, related: () => this.#relatedPods(set) };
    const failure = mayAct ? await this.#manage(set, pods) : undefined;
    // Pods that were just deleted must not count in the status.
    const deleted = this.#expectations.expectedDeletions(key);
    const remaining = deleted.size === 0 ? active : active.filter((pod) => !deleted.has(keyOf(pod)));
    const now = this.context.clock.now();
    const terminating = own.filter((pod) => isPodTerminating(pod) && selector.matches(pod.metadata.labels)).length;
    const counts = countReplicas(view, remaining, now);
    const reported = failure && this.#reported(set, active.length, failure.error);
    await this.#updateStatus(set, { counts, terminating, failure: reported, now });
    if (failure) throw failure.error;
    this.#awaitAvailability(set, active, now);
  }

  #forget(key: string): void {
    this.#expectations.forget(key);
    this.#ownWrites.forget(key);
  }

  #claim(set: T, selector: Selector, candidates: readonly core.Pod[]): Promise<readonly core.Pod[]> {
    const { client } = this.context;
    return claimObjects(candidates, {
      owner: set,
      ownerRef: controllerRef(set, this.spec.kind),
      selector,
      client: client.of(core.Pod),
      ensureCanAdopt: async () => {
        const live = await this.#client.get(set.metadata);
        if (live.metadata.uid !== set.metadata.uid) throw new Error(`original ${this.spec.kind.kind} ${keyOf(set)} is gone`);
        if (live.metadata.deletionTimestamp !== undefined) throw new Error(`${keyOf(set)} has just been deleted`);
      },
    });
  }

  async #manage(set: T, pods: ObservedPods): Promise<{ readonly error: unknown } | undefined> {
    const action = reconcileReplicas(this.spec.view(set), pods, this.context.clock.now());
    if (action.type === 'create') return this.#create(set, action.count);
    return action.type === 'delete' ? this.#delete(set, action.pods) : undefined;
  }

  async #create(set: T, count: number): Promise<{ readonly error: unknown } | undefined> {
    const key = keyOf(set);
    this.#expectations.expectCreations(key, count);
    const options = {
      namespace: set.metadata.namespace ?? '',
      template: this.spec.template(set),
      parent: set,
      ownerRef: controllerRef(set, this.spec.kind),
    };
    const { successes, failure } = await slowStartBatch(count, 1, async () => {
      try {
        this.#ownWrites.wrote(key, this.#caches.pods, await this.#control.create(options));
      } catch (error) {
        // The namespace is terminating: nothing can be created, and the set will be deleted too.
        if (!isNamespaceTerminating(error)) throw error;
      }
    });
    // Failed and skipped creations will never be observed.
    this.#expectations.creationObserved(key, count - successes);
    return failure === undefined ? undefined : { error: failure };
  }

  async #delete(set: T, pods: readonly core.Pod[]): Promise<{ readonly error: unknown } | undefined> {
    const key = keyOf(set);
    this.#expectations.expectDeletions(key, pods.map(keyOf));
    const results = await Promise.allSettled(pods.map((pod) => this.#deleteOne(key, pod, set)));
    const failed = results.find((result) => result.status === 'rejected');
    return failed && { error: failed.reason };
  }

  async #deleteOne(key: string, pod: core.Pod, set: T): Promise<void> {
    try {
      await this.#control.delete(pod, set);
    } catch (error) {
      this.#expectations.deletionObserved(key, keyText(pod.metadata));
      if (!isStatusReason(error, 'NotFound')) throw error;
    }
  }

  #relatedPods(set: T): readonly core.Pod[] {
    const owner = controllerOf(set)?.uid;
    const sets = owner === undefined ? [set] : this.#siblings.byIndex(SIBLINGS, owner);
    return sets.flatMap(({ metadata }) => this.#pods.ownedBy(metadata.uid ?? ''));
  }

  /** Retried once with the live object: conflicts are common, and the counts still hold. */
  async #updateStatus(set: T, observed: ObservedReplicas): Promise<void> {
    const desired = this.spec.withStatus(set, observed);
    if (desired === set) return;
    try {
      await this.#writeStatus(desired);
    } catch (error) {
      if (!isStatusReason(error, 'Conflict')) throw error;
      const fresh = await this.#client.get(set.metadata);
      if (fresh.metadata.uid !== set.metadata.uid) return;
      const again = this.spec.withStatus(fresh, observed);
      if (again !== fresh) await this.#writeStatus(again);
    }
  }

  async #writeStatus(set: T): Promise<void> {
    this.#ownWrites.wrote(keyOf(set), this.#caches.sets, await this.#client.updateStatus(set));
  }

  #awaitAvailability(set: T, active: readonly core.Pod[], now: number): void {
    const { minReadySeconds } = this.spec.view(set);
    if (minReadySeconds <= 0) return;
    const next = nextAvailability(active, minReadySeconds, now);
    if (next !== undefined) this.#keyed.enqueueAfter(set, next);
  }
}

interface SetSync {
  readonly key: string;
  readonly selector: Selector;
  /** Whether pods may be created and deleted. */
  readonly mayAct: boolean;
}

const SIBLINGS = 'controller';

function isSpecChanged(before: Identified, after: Identified): boolean {
  const { generation, deletionTimestamp } = after.metadata;
  return generation !== before.metadata.generation || deletionTimestamp !== before.metadata.deletionTimestamp;
}

/** Indexes sets by their controller's uid: the sets of one deployment. */
export function siblingValues(set: Identified): readonly string[] {
  const owner = controllerOf(set);
  return owner === undefined ? [] : [owner.uid];
}

function isNamespaceTerminating(error: unknown): boolean {
  return error instanceof StatusError && error.hasCause('NamespaceTerminating');
}
