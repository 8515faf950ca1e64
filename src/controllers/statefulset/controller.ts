import { apps, core } from '#api';
import { type EventRecorder, keyOf, type Lister, parseKey } from '#client';
import { isStatusReason, lenientSelector, StatusError, selectorFromObject } from '#machinery';
import { claimObjects } from '../runtime/claim-objects.ts';
import { coalescingDelayMs } from '../runtime/coalescing-delay.ts';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { controllerOf, controllerRef, isControlledBy } from '../runtime/controller-ref.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { OwnWrites, type ResourceFollower } from '../runtime/own-writes.ts';
import { podFromTemplate } from '../runtime/pod-control.ts';
import { nextAvailability, type PodsByController, podsByController } from '../runtime/pod-state.ts';
import { claimRevisions, currentRevision } from '../runtime/revision-history.ts';
import { claimChanges } from './claim-owners.ts';
import { type ObservedStatefulSet, planStateful, type StatefulAction, withStatefulStatus } from './reconcile.ts';
import { claimsFor, ordinalOf, podName, REVISION_LABEL, repairedPod, templateFor } from './stateful-pod.ts';

type StatefulSet = apps.StatefulSet;
const HASH_LABEL = 'controller.kubernetes.io/hash';

type Verb = 'Create' | 'Update' | 'Delete';

interface Outcome {
  /** The number of pods deleted for the update. */
  readonly replaced: number;
  readonly failure?: unknown;
}

const NOTHING_DONE: Outcome = { replaced: 0 };

/** Runs pods with stable names, ordering and claims. */
export const statefulSetController: Controller = {
  name: 'statefulset-controller',
  aliases: ['statefulset'],
  enabledByDefault: true,
  start: (context) => new StatefulSetController(context),
};

class StatefulSetController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #events: EventRecorder;
  readonly #ownWrites = new OwnWrites();
  readonly #caches: { readonly sets: ResourceFollower; readonly pods: ResourceFollower };
  readonly #sets: Lister<StatefulSet>;
  readonly #revisions: Lister<apps.ControllerRevision>;
  readonly #claims: Lister<core.PersistentVolumeClaim>;
  readonly #pods: PodsByController;

  constructor(private readonly context: ControllerContext) {
    const { informers, options } = context;
    const sets = informers.of(apps.StatefulSet);
    const pods = informers.of(core.Pod);
    this.#caches = { sets, pods };
    this.#sets = sets.lister;
    this.#revisions = informers.of(apps.ControllerRevision).lister;
    this.#claims = informers.of(core.PersistentVolumeClaim).lister;
    this.#pods = podsByController(pods);
    this.#events = context.recorder('statefulset-controller');
    const concurrency = options.concurrentStatefulSetSyncs;
    this.#keyed = new KeyedController(context, {
      name: 'statefulset',
      concurrency,
      isExpected: isGone,
      objects: sets.lister,
      sync: (key) => this.#sync(key),
    });
    const own = this.#keyed.handler<StatefulSet>();
    sets.addHandler({
      ...own,
      delete: (set) => {
        this.#ownWrites.forget(keyOf(set));
        own.delete?.(set);
      },
    });
    const onPod = (pod: core.Pod) => this.#podChanged(pod);
    pods.addHandler({ add: onPod, update: (_, pod) => onPod(pod), delete: onPod });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  #podChanged(pod: core.Pod): void {
    const reference = controllerOf(pod);
    if (reference?.kind === 'StatefulSet') this.#ownedPodChanged(pod, reference);
    if (reference !== undefined) return;
    for (const set of this.#sets.list(pod.metadata.namespace)) {
      if (lenientSelector(set.spec?.selector).matches(pod.metadata.labels)) this.#keyed.enqueue(set);
    }
  }

  #ownedPodChanged({ metadata: { namespace } }: core.Pod, { name, uid }: { readonly name: string; readonly uid: string }): void {
    this.#keyed.queue.addAfter(`${namespace}/${name}`, coalescingDelayMs(this.#pods.countOwnedBy(uid)));
  }

  async #sync(key: string): Promise<void> {
    if (!this.#ownWrites.clearSeen(key)) return;
    const set = this.#sets.get(parseKey(key));
    if (set === undefined) return this.#ownWrites.forget(key);
    const update = await this.#ensureRevision(set);
    if (update === undefined) return;
    const observed = await this.#observe(set, update);
    const { replaced, failure } = set.metadata.deletionTimestamp === undefined ? await this.#act(observed) : NOTHING_DONE;
    const desired = withStatefulStatus(observed, replaced);
    if (desired !== set)
      this.#ownWrites.wrote(key, this.#caches.sets, await this.context.client.of(apps.StatefulSet).updateStatus(desired));
    await this.#cleanUp(observed);
    if (failure !== undefined) throw failure;
    const next = nextAvailability(observed.pods, set.spec?.minReadySeconds ?? 0, observed.now);
    if (next !== undefined) this.#keyed.enqueueAfter(set, next);
  }

  /** Executes the plan until an action fails or the plan is outdated; the status is written in any case. */
  async #act(observed: ObservedStatefulSet): Promise<Outcome> {
    let replaced = 0;
    try {
      for (const action of planStateful(observed)) {
        if (this.#isOutdated(observed.set)) break;
        await this.#perform(observed, action);
        if (action.type === 'delete' && action.forUpdate) replaced++;
      }
      return { replaced };
    } catch (failure) {
      return { replaced, failure };
    }
  }

  /**
   * A plan may take hundreds of writes: whether the set was deleted or changed meanwhile (it is queued again), or the controller is
   * stopping.
   */
  #isOutdated({ metadata }: StatefulSet): boolean {
    if (this.context.signal.aborted) return true;
    const live = this.#sets.get(metadata)?.metadata;
    return live?.uid !== metadata.uid || live?.generation !== metadata.generation || live?.deletionTimestamp !== undefined;
  }

  async #ensureRevision(set: StatefulSet): Promise<string | undefined> {
    const client = this.context.client.of(apps.ControllerRevision);
    const { collisionCount } = set.status ?? {};
    const { template } = set.spec!;
    const { annotations } = set.metadata;
    const owner = { owner: set, kind: apps.StatefulSet, template, annotations, collisionCount, hashLabel: HASH_LABEL };
    const action = currentRevision(owner, await this.#adoptedRevisions(set));
    const { name } = action.current.metadata;
    try {
      if (action.type === 'create') await client.create(action.current);
      if (action.type === 'update') await client.update(action.current);
    } catch (error) {
      if (error instanceof StatusError && error.hasCause('NamespaceTerminating')) return undefined;
      if (!isStatusReason(error, 'AlreadyExists')) throw error;
      if (isControlledBy(await client.get(action.current.metadata), set)) return name;
      const status = { replicas: 0, ...set.status, collisionCount: (collisionCount ?? 0) + 1 };
      await this.context.client.of(apps.StatefulSet).updateStatus({ ...set, status });
      return undefined;
    }
    return name;
  }

  #revisionsOf(set: StatefulSet): readonly apps.ControllerRevision[] {
    return this.#revisions.list(set.metadata.namespace).filter((revision) => isControlledBy(revision, set));
  }

  /** The set's revisions, orphaned ones adopted. */
  async #adoptedRevisions(set: StatefulSet): Promise<readonly apps.ControllerRevision[]> {
    return claimRevisions(this.#revisions.list(set.metadata.namespace), {
      owner: set,
      ownerRef: controllerRef(set, apps.StatefulSet),
      selector: selectorFromObject(set.spec?.selector),
      client: this.context.client.of(apps.ControllerRevision),
      ensureCanAdopt: () => this.#ensureCanAdopt(set),
    });
  }

  async #ensureCanAdopt(set: StatefulSet): Promise<void> {
    const live = await this.context.client.of(apps.StatefulSet).get(set.metadata);
    if (live.metadata.uid !== set.metadata.uid) throw new Error(`original StatefulSet ${keyOf(set)} is gone`);
    if (live.metadata.deletionTimestamp !== undefined) throw new Error(`${keyOf(set)} has just been deleted`);
  }

  async #observe(set: StatefulSet, updateRevision: string): Promise<ObservedStatefulSet> {
    const candidates = [...this.#pods.ownedBy(set.metadata.uid ?? ''), ...this.#pods.orphansIn(set.metadata.namespace ?? '')];
    const pods = await claimObjects(candidates, {
      owner: set,
      ownerRef: controllerRef(set, apps.StatefulSet),
      selector: selectorFromObject(set.spec?.selector),
      mayAdopt: (pod) => ordinalOf(set, pod) !== undefined,
      client: this.context.client.of(core.Pod),
      ensureCanAdopt: () => this.#ensureCanAdopt(set),
    });
    const currentRevision = set.status?.currentRevision;
    const exists =
      currentRevision === updateRevision ||
      this.#revisions.get({ name: currentRevision ?? '', namespace: set.metadata.namespace }) !== undefined;
    const claims = (name: string) => this.#claims.get({ name, namespace: set.metadata.namespace });
    return {
      set,
      pods,
      claims,
      currentRevision: currentRevision && exists ? currentRevision : updateRevision,
      updateRevision,
      now: this.context.clock.now(),
    };
  }

  #perform(observed: ObservedStatefulSet, action: StatefulAction): Promise<void> {
    switch (action.type) {
      case 'create':
        return this.#create(observed, action.ordinal, action.revision === 'update' ? observed.updateRevision : observed.currentRevision);
      case 'delete':
        return this.#delete(observed, action.pod);
      case 'claim':
        return this.#claim(observed, action.pod);
      case 'repair':
        return this.#repair(observed, action.pod);
      case 'own-claims':
        return this.#ownClaims(observed, action.pod);
      default:
        throw action satisfies never;
    }
  }

  #recordEvent(set: StatefulSet, verb: Verb, { pod, error }: { readonly pod: string; readonly error?: unknown }): void {
    const message = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name}`;
    if (error === undefined) this.#events.normal(set, `Successful${verb}`, `${message} successful`);
    else this.#events.warning(set, `Failed${verb}`, `${message} failed error: ${(error as Error).message}`);
  }

  async #delete({ set }: ObservedStatefulSet, { metadata }: core.Pod): Promise<void> {
    const { uid = '', name: pod } = metadata;
    try {
      await this.context.client.of(core.Pod).delete(metadata, { preconditions: { uid } });
    } catch (error) {
      // The pod of that name belongs to another owner.
      if (isStatusReason(error, 'Conflict')) return;
      if (!isGone(error)) {
        this.#recordEvent(set, 'Delete', { pod, error });
        throw error;
      }
    }
    this.#recordEvent(set, 'Delete', { pod });
  }

  async #create(observed: ObservedStatefulSet, ordinal: number, revision: string): Promise<void> {
    const { set } = observed;
    const pod = podName(set, ordinal);
    try {
      await this.#createClaims(set, ordinal);
      await this.#createPod(set, ordinal, revision);
      this.#recordEvent(set, 'Create', { pod });
    } catch (error) {
      const isTerminating = error instanceof StatusError && error.hasCause('NamespaceTerminating');
      // Another pod has the name: retried until it is deleted.
      if (!isStatusReason(error, 'AlreadyExists') && !isTerminating) this.#recordEvent(set, 'Create', { pod, error });
      if (!isTerminating) throw error;
    }
  }

  async #createPod(set: StatefulSet, ordinal: number, revision: string): Promise<void> {
    const template = templateFor(set, { ordinal, template: this.#templateOf(set, revision), revision });
    const { namespace = '' } = set.metadata;
    const name = podName(set, ordinal);
    const draft = podFromTemplate({ namespace, template, parent: set, ownerRef: controllerRef(set, apps.StatefulSet), name });
    this.#ownWrites.wrote(keyOf(set), this.#caches.pods, await this.context.client.of(core.Pod).create(draft));
  }

  async #claim(observed: ObservedStatefulSet, pod: core.Pod): Promise<void> {
    await this.#createClaims(observed.set, ordinalOf(observed.set, pod) ?? 0);
    await this.#ownClaims(observed, pod);
  }

  async #repair(observed: ObservedStatefulSet, pod: core.Pod): Promise<void> {
    const { set } = observed;
    const { name } = pod.metadata;
    try {
      const repaired = repairedPod(set, pod);
      if (repaired.spec !== pod.spec) await this.#createClaims(set, ordinalOf(set, pod) ?? 0);
      await this.#ownClaims(observed, pod);
      if (repaired !== pod) this.#ownWrites.wrote(keyOf(set), this.#caches.pods, await this.context.client.of(core.Pod).update(repaired));
      this.#recordEvent(set, 'Update', { pod: name });
    } catch (error) {
      if (!isStatusReason(error, 'Conflict')) this.#recordEvent(set, 'Update', { pod: name, error });
      throw error;
    }
  }

  #templateOf(set: StatefulSet, revision: string): core.PodTemplateSpec {
    const stored = this.#revisions.get({ name: revision, namespace: set.metadata.namespace });
    const data = stored?.data as
      | { readonly spec?: { readonly template?: core.PodTemplateSpec & { readonly $patch?: string } } }
      | undefined;
    if (data?.spec?.template === undefined) return set.spec!.template;
    const { $patch: _, ...template } = data.spec.template;
    return template;
  }

  async #createClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const failures: string[] = [];
    for (const claim of claimsFor(set, ordinal)) {
      const problem = await this.#createClaim(set, claim, podName(set, ordinal));
      if (problem !== undefined) failures.push(problem);
    }
    if (failures.length > 0) throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`);
  }

  /** Returns the error message, if any. */
  async #createClaim(set: StatefulSet, claim: core.PersistentVolumeClaim, pod: string): Promise<string | undefined> {
    const { name } = claim.metadata;
    const existing = this.#claims.get(claim.metadata);
    if (existing !== undefined) return existing.metadata.deletionTimestamp === undefined ? undefined : `pvc ${name} is being deleted`;
    const where = `Pod ${pod} in StatefulSet ${set.metadata.name}`;
    try {
      await this.context.client.of(core.PersistentVolumeClaim).create(claim);
      this.#events.normal(set, 'SuccessfulCreate', `Create Claim ${name} ${where} success`);
      return undefined;
    } catch (error) {
      // Created a moment ago; the cache does not show it yet.
      if (isStatusReason(error, 'AlreadyExists')) return undefined;
      const { message } = error as Error;
      this.#events.warning(set, 'FailedCreate', `Create Claim ${name} for ${where} failed error: ${message}`);
      return `failed to create PVC ${name}: ${message}`;
    }
  }

  /** Sets owner references of claims: the set for whenDeleted, the pod for whenScaled once it is condemned. */
  async #ownClaims({ set, claims }: ObservedStatefulSet, pod: core.Pod): Promise<void> {
    for (const { claim, desired, isContested } of claimChanges(set, pod, claims)) {
      const { name } = claim.metadata;
      if (isContested) {
        const message = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`;
        this.#events.warning(set, 'ConflictingController', message);
      }
      if (desired !== undefined) await this.context.client.of(core.PersistentVolumeClaim).update(desired);
    }
  }

  async #cleanUp({ set, pods, currentRevision: current, updateRevision }: ObservedStatefulSet): Promise<void> {
    const live = new Set([current, updateRevision, ...pods.map(({ metadata }) => metadata.labels?.[REVISION_LABEL] ?? '')]);
    const unused = this.#revisionsOf(set).filter(({ metadata }) => !live.has(metadata.name));
    const surplus = unused
      .sort((a, b) => a.revision - b.revision)
      .slice(0, Math.max(0, unused.length - (set.spec?.revisionHistoryLimit ?? 10)));
    for (const { metadata } of surplus) {
      await this.context.client
        .of(apps.ControllerRevision)
        .delete(metadata)
        .catch((error: unknown) => {
          if (!isGone(error)) throw error;
        });
    }
  }
}
