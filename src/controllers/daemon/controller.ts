import { apps, core } from '#api';
import { type EventRecorder, keyOf, type Lister, parseKey } from '#client';
import { isStatusReason, lenientSelector, StatusError, selectorFromObject } from '#machinery';
import { claimObjects } from '../runtime/claim-objects.ts';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { controllerOf, controllerRef, isControlledBy } from '../runtime/controller-ref.ts';
import { Expectations } from '../runtime/expectations.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { OwnWrites, type ResourceFollower } from '../runtime/own-writes.ts';
import { PodControl } from '../runtime/pod-control.ts';
import { nextAvailability, type PodsByController, podsByController } from '../runtime/pod-state.ts';
import { claimRevisions, currentRevision, outdatedRevisions, revisionHash } from '../runtime/revision-history.ts';
import { slowStartBatch } from '../runtime/slow-start-batch.ts';
import { FailedPodBackoff } from './failed-pod-backoff.ts';
import { affinityFor, daemonTolerations } from './node-fit.ts';
import {
  nodeOf,
  type ObservedDaemonSet,
  planDaemons,
  REVISION_HASH,
  rollingStep,
  TEMPLATE_GENERATION,
  templateGeneration,
  withDaemonStatus,
} from './reconcile.ts';

type DaemonSet = apps.DaemonSet;
const BURST = 250;

/** Runs a pod on every node that matches a daemon set. */
export const daemonSetController: Controller = {
  name: 'daemonset-controller',
  aliases: ['daemonset'],
  enabledByDefault: true,
  start: (context) => new DaemonSetController(context),
};

class DaemonSetController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #events: EventRecorder;
  readonly #control: PodControl;
  readonly #expectations: Expectations;
  readonly #ownWrites = new OwnWrites();
  readonly #caches: { readonly sets: ResourceFollower; readonly pods: ResourceFollower };
  readonly #sets: Lister<DaemonSet>;
  readonly #nodes: Lister<core.Node>;
  readonly #revisions: Lister<apps.ControllerRevision>;
  readonly #pods: PodsByController;
  readonly #failures = new FailedPodBackoff();

  constructor(private readonly context: ControllerContext) {
    const { informers, client, clock, options } = context;
    const sets = informers.of(apps.DaemonSet);
    const nodes = informers.of(core.Node);
    const pods = informers.of(core.Pod);
    this.#caches = { sets, pods };
    this.#sets = sets.lister;
    this.#nodes = nodes.lister;
    this.#revisions = informers.of(apps.ControllerRevision).lister;
    this.#pods = podsByController(pods);
    this.#events = context.recorder('daemonset-controller');
    this.#control = new PodControl({ client, events: this.#events });
    this.#expectations = new Expectations(clock);
    const concurrency = options.concurrentDaemonSetSyncs;
    this.#keyed = new KeyedController(context, {
      name: 'daemonset',
      concurrency,
      isExpected: isGone,
      objects: sets.lister,
      sync: (key) => this.#sync(key),
    });
    const own = this.#keyed.handler<DaemonSet>();
    sets.addHandler({
      ...own,
      delete: (set) => {
        this.#forget(keyOf(set));
        own.delete?.(set);
      },
    });
    const all = () => {
      for (const set of sets.lister.list()) this.#keyed.enqueue(set);
    };
    nodes.addHandler({
      add: all,
      delete: all,
      update: (before, node) => {
        if (before.metadata.labels !== node.metadata.labels || before.spec !== node.spec) all();
      },
    });
    pods.addHandler({
      add: (pod) => this.#podSeen(pod, (key) => this.#expectations.creationObserved(key)),
      update: (_, pod) => this.#podSeen(pod, (key) => this.#observeDeletion(key, pod)),
      delete: (pod) => this.#podSeen(pod, (key) => this.#expectations.deletionObserved(key, keyOf(pod))),
    });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  #observeDeletion(key: string, pod: core.Pod): void {
    if (pod.metadata.deletionTimestamp !== undefined) this.#expectations.deletionObserved(key, keyOf(pod));
  }

  #podSeen(pod: core.Pod, observe: (key: string) => void): void {
    const reference = controllerOf(pod);
    if (reference === undefined) {
      for (const set of this.#sets.list(pod.metadata.namespace)) if (selects(set, pod)) this.#keyed.enqueue(set);
      return;
    }
    const set = reference.kind === 'DaemonSet' ? this.#sets.get({ name: reference.name, namespace: pod.metadata.namespace }) : undefined;
    if (set?.metadata.uid !== reference.uid) return;
    observe(keyOf(set!));
    this.#keyed.enqueueCoalesced(set!, this.#pods.countOwnedBy(reference.uid));
  }

  async #sync(key: string): Promise<void> {
    if (!this.#ownWrites.clearSeen(key)) return;
    const set = this.#sets.get(parseKey(key));
    if (set === undefined) return this.#forget(key);
    if (selectorFromObject(set.spec?.selector).isEmpty) {
      this.#events.warning(set, 'SelectingAll', 'This daemon set is selecting all pods. A non-empty selector is required.');
      return;
    }
    if (set.metadata.deletionTimestamp !== undefined) return;
    const hash = await this.#ensureRevision(set);
    if (hash === undefined) return;
    const mayAct = this.#expectations.satisfied(key);
    const observed = await this.#observe(set, hash);
    const failure = mayAct ? await this.#act(key, observed) : undefined;
    await this.#report(observed);
    if (failure !== undefined) throw failure;
    if (mayAct) await this.#cleanUp(set, observed);
  }

  #forget(key: string): void {
    this.#expectations.forget(key);
    this.#ownWrites.forget(key);
  }

  /** The hash of the current template; undefined when its revision had to be given another name first. */
  async #ensureRevision(set: DaemonSet): Promise<string | undefined> {
    const client = this.context.client.of(apps.ControllerRevision);
    const { collisionCount } = set.status ?? {};
    const { annotations } = set.metadata;
    const owner = { owner: set, kind: apps.DaemonSet, template: set.spec!.template, annotations, collisionCount };
    const action = currentRevision(owner, await this.#adoptedRevisions(set));
    try {
      if (action.type === 'create') await client.create(action.current);
      if (action.type === 'update') await client.update(action.current);
      return revisionHash(action.current);
    } catch (error) {
      if (error instanceof StatusError && error.hasCause('NamespaceTerminating')) return undefined;
      if (!isStatusReason(error, 'AlreadyExists')) throw error;
      const existing = await client.get(action.current.metadata);
      if (isControlledBy(existing, set)) return revisionHash(existing);
      const status = { ...set.status!, collisionCount: (collisionCount ?? 0) + 1 };
      await this.context.client.of(apps.DaemonSet).updateStatus({ ...set, status });
      return undefined;
    }
  }

  #revisionsOf(set: DaemonSet): readonly apps.ControllerRevision[] {
    return this.#revisions.list(set.metadata.namespace).filter((revision) => isControlledBy(revision, set));
  }

  /** The set's revisions, orphaned ones adopted. */
  async #adoptedRevisions(set: DaemonSet): Promise<readonly apps.ControllerRevision[]> {
    return claimRevisions(this.#revisions.list(set.metadata.namespace), {
      owner: set,
      ownerRef: controllerRef(set, apps.DaemonSet),
      selector: selectorFromObject(set.spec?.selector),
      client: this.context.client.of(apps.ControllerRevision),
      ensureCanAdopt: () => this.#ensureCanAdopt(set),
    });
  }

  async #ensureCanAdopt(set: DaemonSet): Promise<void> {
    const live = await this.context.client.of(apps.DaemonSet).get(set.metadata);
    if (live.metadata.uid !== set.metadata.uid) throw new Error(`original DaemonSet ${keyOf(set)} is gone`);
    if (live.metadata.deletionTimestamp !== undefined) throw new Error(`${keyOf(set)} has just been deleted`);
  }

  async #observe(set: DaemonSet, hash: string): Promise<ObservedDaemonSet> {
    const candidates = [...this.#pods.ownedBy(set.metadata.uid ?? ''), ...this.#pods.orphansIn(set.metadata.namespace ?? '')];
    const pods = await claimObjects(candidates, {
      owner: set,
      ownerRef: controllerRef(set, apps.DaemonSet),
      selector: selectorFromObject(set.spec?.selector),
      client: this.context.client.of(core.Pod),
      ensureCanAdopt: () => this.#ensureCanAdopt(set),
    });
    const podsOn = new Map<string, core.Pod[]>();
    for (const pod of pods) podsOn.set(nodeOf(pod), [...(podsOn.get(nodeOf(pod)) ?? []), pod]);
    const now = this.context.clock.now();
    const failureWaitMs = (node: string) => this.#failures.waitMs(failuresKey(set, node), now);
    return { set, nodes: this.#nodes.list(), podsOn, hash, failureWaitMs, now };
  }

  async #act(key: string, observed: ObservedDaemonSet): Promise<unknown> {
    const plan = planDaemons(observed);
    for (const pod of plan.ended) this.#recordEnded(observed, pod);
    this.#failures.forgetOld(observed.now);
    if (plan.waitMs !== undefined) this.#keyed.enqueueAfter(observed.set, plan.waitMs);
    const isSettled = plan.create.length + plan.remove.length === 0;
    const { create, remove } = isSettled ? rollingStep(observed) : plan;
    return this.#apply(key, observed, { create: create.slice(0, BURST), remove: remove.slice(0, BURST) });
  }

  #recordEnded({ set, now }: ObservedDaemonSet, pod: core.Pod): void {
    const { namespace, name } = pod.metadata;
    const where = `${namespace}/${name} on node ${nodeOf(pod)}`;
    if (pod.status?.phase === 'Succeeded') {
      this.#events.normal(set, 'SucceededDaemonPod', `Found succeeded daemon pod ${where}, will try to delete it`);
      return;
    }
    this.#failures.replaced(failuresKey(set, nodeOf(pod)), now);
    this.#events.warning(set, 'FailedDaemonPod', `Found failed daemon pod ${where}, will try to kill it`);
  }

  async #apply(key: string, { set, hash }: ObservedDaemonSet, { create, remove }: Changes): Promise<unknown> {
    if (create.length + remove.length === 0) return undefined;
    this.#expectations.forget(key);
    this.#expectations.raise(key, { creations: create.length, deletions: remove.map(keyOf) });
    const creation = await slowStartBatch(create.length, 1, async (i) => {
      const ownerRef = controllerRef(set, apps.DaemonSet);
      const template = templateFor(set, hash, create[i] ?? '');
      const draft = { namespace: set.metadata.namespace ?? '', template, parent: set, ownerRef };
      this.#ownWrites.wrote(key, this.#caches.pods, await this.#control.create(draft));
    });
    this.#expectations.creationObserved(key, create.length - creation.successes);
    const deletions = await Promise.allSettled(
      remove.map(async (pod) => {
        try {
          await this.#control.delete(pod, set);
        } catch (error) {
          this.#expectations.deletionObserved(key, keyOf(pod));
          if (!isGone(error)) throw error;
        }
      }),
    );
    const failed = deletions.find((result) => result.status === 'rejected');
    return creation.failure ?? failed?.reason;
  }

  async #report(observed: ObservedDaemonSet): Promise<void> {
    const { set, podsOn, now } = observed;
    const desired = withDaemonStatus(observed);
    if (desired !== set) {
      this.#ownWrites.wrote(keyOf(set), this.#caches.sets, await this.context.client.of(apps.DaemonSet).updateStatus(desired));
    }
    const next = nextAvailability([...podsOn.values()].flat(), set.spec?.minReadySeconds ?? 0, now);
    if (next !== undefined) this.#keyed.enqueueAfter(set, next);
  }

  async #cleanUp(set: DaemonSet, { podsOn, hash }: ObservedDaemonSet): Promise<void> {
    const live = new Set([...podsOn.values()].flat().map(({ metadata }) => metadata.labels?.[REVISION_HASH] ?? ''));
    live.add(hash);
    for (const revision of outdatedRevisions(this.#revisionsOf(set), live, set.spec?.revisionHistoryLimit ?? 10)) {
      await this.context.client
        .of(apps.ControllerRevision)
        .delete(revision.metadata)
        .catch((error: unknown) => {
          if (!isGone(error)) throw error;
        });
    }
  }
}

interface Changes {
  readonly create: readonly string[];
  readonly remove: readonly core.Pod[];
}

function failuresKey({ metadata }: DaemonSet, node: string): string {
  return `${metadata.uid}/${metadata.generation}/${node}`;
}

function selects({ spec }: DaemonSet, { metadata }: core.Pod): boolean {
  const selector = lenientSelector(spec?.selector);
  return !selector.isEmpty && selector.matches(metadata.labels);
}

function templateFor(set: DaemonSet, hash: string, node: string): core.PodTemplateSpec {
  const { template } = set.spec!;
  const spec = template.spec!;
  const generation = templateGeneration(set);
  const labels = {
    ...template.metadata?.labels,
    ...(generation !== undefined && { [TEMPLATE_GENERATION]: generation }),
    [REVISION_HASH]: hash,
  };
  return {
    metadata: { ...template.metadata, labels },
    spec: { ...spec, affinity: affinityFor(spec.affinity, node), tolerations: daemonTolerations(spec) },
  };
}
