import { apps, core, type meta } from '#api';
import { type EventRecorder, keyOf, type Lister, parseKey } from '#client';
import { isStatusReason, StatusError, selectorFromObject } from '#machinery';
import { claimObjects } from '../runtime/claim-objects.ts';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { controllerOf, controllerRef, isControlledBy } from '../runtime/controller-ref.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { type Followed, OwnWrites } from '../runtime/own-writes.ts';
import { podFromTemplate } from '../runtime/pod-control.ts';
import { nextAvailability, type PodsByController, podsByController } from '../runtime/pod-state.ts';
import { currentRevision } from '../runtime/revision-history.ts';
import { type ObservedStatefulSet, planStateful, type StatefulAction, withStatefulStatus } from './reconcile.ts';
import { claimsFor, ordinalOf, podName, REVISION_LABEL, templateFor } from './stateful-pod.ts';

type StatefulSet = apps.StatefulSet;
const HASH_LABEL = 'controller.kubernetes.io/hash';

/** Keeps pods with names, an order and claims of their own. */
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
  readonly #caches: { readonly sets: Followed; readonly pods: Followed };
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
    this.#keyed = new KeyedController(context, { name: 'statefulset', concurrency, isExpected: isGone, sync: (key) => this.#sync(key) });
    const own = this.#keyed.handler<StatefulSet>();
    sets.addHandler({
      ...own,
      delete: (set) => {
        this.#ownWrites.forget(keyOf(set));
        own.delete?.(set);
      },
    });
    const tell = (pod: core.Pod) => this.#podChanged(pod);
    pods.addHandler({ add: tell, update: (_, pod) => tell(pod), delete: tell });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  #podChanged(pod: core.Pod): void {
    const reference = controllerOf(pod);
    if (reference?.kind === 'StatefulSet') this.#keyed.queue.add(`${pod.metadata.namespace}/${reference.name}`);
    if (reference !== undefined) return;
    for (const set of this.#sets.list(pod.metadata.namespace)) {
      if (selectorFromObject(set.spec?.selector).matches(pod.metadata.labels)) this.#keyed.enqueue(set);
    }
  }

  async #sync(key: string): Promise<void> {
    if (!this.#ownWrites.areSeen(key)) return;
    const set = this.#sets.get(parseKey(key));
    if (set === undefined) return this.#ownWrites.forget(key);
    const update = await this.#ensureRevision(set);
    if (update === undefined) return;
    const observed = await this.#observe(set, update);
    if (set.metadata.deletionTimestamp === undefined) {
      // Before their pods go, or nobody would know whose they were.
      await this.#ownClaims(observed);
      for (const action of planStateful(observed)) await this.#perform(observed, action);
      await this.#cleanUp(observed);
    }
    const wanted = withStatefulStatus(observed);
    if (wanted !== set) this.#ownWrites.wrote(key, this.#caches.sets, await this.context.client.of(apps.StatefulSet).updateStatus(wanted));
    const next = nextAvailability(observed.pods, set.spec?.minReadySeconds ?? 0, observed.now);
    if (next !== undefined) this.#keyed.enqueueAfter(set, next);
  }

  async #ensureRevision(set: StatefulSet): Promise<string | undefined> {
    const client = this.context.client.of(apps.ControllerRevision);
    const { collisionCount } = set.status ?? {};
    const owner = { owner: set, kind: apps.StatefulSet, template: set.spec!.template, collisionCount, hashLabel: HASH_LABEL };
    const action = currentRevision(owner, this.#revisionsOf(set));
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

  async #observe(set: StatefulSet, updateRevision: string): Promise<ObservedStatefulSet> {
    const candidates = [...this.#pods.ownedBy(set.metadata.uid ?? ''), ...this.#pods.orphansIn(set.metadata.namespace ?? '')];
    const pods = await claimObjects(candidates, {
      owner: set,
      ownerRef: controllerRef(set, apps.StatefulSet),
      selector: selectorFromObject(set.spec?.selector),
      mayAdopt: (pod) => ordinalOf(set, pod) !== undefined,
      client: this.context.client.of(core.Pod),
      canAdopt: async () => {
        const live = await this.context.client.of(apps.StatefulSet).get(set.metadata);
        if (live.metadata.uid !== set.metadata.uid) throw new Error(`original StatefulSet ${keyOf(set)} is gone`);
        if (live.metadata.deletionTimestamp !== undefined) throw new Error(`${keyOf(set)} has just been deleted`);
      },
    });
    const known = set.status?.currentRevision;
    const exists = known === updateRevision || this.#revisions.get({ name: known ?? '', namespace: set.metadata.namespace }) !== undefined;
    return { set, pods, currentRevision: known && exists ? known : updateRevision, updateRevision, now: this.context.clock.now() };
  }

  async #perform(observed: ObservedStatefulSet, action: StatefulAction): Promise<void> {
    if (action.type === 'create')
      return this.#create(observed, action.ordinal, action.revision === 'update' ? observed.updateRevision : observed.currentRevision);
    const { set } = observed;
    const { pod } = action;
    const { uid = '', name } = pod.metadata;
    try {
      await this.context.client.of(core.Pod).delete(pod.metadata, { preconditions: { uid } });
      this.#events.normal(set, 'SuccessfulDelete', `delete Pod ${name} in StatefulSet ${set.metadata.name} successful`);
    } catch (error) {
      if (!isGone(error) && !isStatusReason(error, 'Conflict')) throw error;
    }
  }

  async #create({ set }: ObservedStatefulSet, ordinal: number, revision: string): Promise<void> {
    for (const claim of claimsFor(set, ordinal)) await this.#createClaim(set, claim, podName(set, ordinal));
    const template = templateFor(set, { ordinal, template: this.#templateOf(set, revision), revision });
    const { namespace = '' } = set.metadata;
    const name = podName(set, ordinal);
    const draft = podFromTemplate({ namespace, template, parent: set, ownerRef: controllerRef(set, apps.StatefulSet), name });
    try {
      this.#ownWrites.wrote(keyOf(set), this.#caches.pods, await this.context.client.of(core.Pod).create(draft));
      this.#events.normal(set, 'SuccessfulCreate', `create Pod ${name} in StatefulSet ${set.metadata.name} successful`);
    } catch (error) {
      if (isStatusReason(error, 'AlreadyExists')) return;
      if (error instanceof StatusError && error.hasCause('NamespaceTerminating')) return;
      this.#events.warning(
        set,
        'FailedCreate',
        `create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${(error as Error).message}`,
      );
      throw error;
    }
  }

  #templateOf(set: StatefulSet, revision: string): core.PodTemplateSpec {
    const found = this.#revisions.get({ name: revision, namespace: set.metadata.namespace });
    const data = found?.data as { readonly spec?: { readonly template?: core.PodTemplateSpec & { readonly $patch?: string } } } | undefined;
    if (data?.spec?.template === undefined) return set.spec!.template;
    const { $patch: _, ...template } = data.spec.template;
    return template;
  }

  async #createClaim(set: StatefulSet, claim: core.PersistentVolumeClaim, pod: string): Promise<void> {
    if (this.#claims.get(claim.metadata) !== undefined) return;
    const what = `create Claim ${claim.metadata.name} Pod ${pod} in StatefulSet ${set.metadata.name}`;
    try {
      await this.context.client.of(core.PersistentVolumeClaim).create(claim);
      this.#events.normal(set, 'SuccessfulCreate', `${what} success`);
    } catch (error) {
      if (isStatusReason(error, 'AlreadyExists')) return;
      this.#events.warning(set, 'FailedCreate', `${what} failed error: ${(error as Error).message}`);
      throw error;
    }
  }

  /** Claims that are to go with the set belong to it, and those that are to go with their pod, to the pod when it is condemned. */
  async #ownClaims({ set, pods }: ObservedStatefulSet): Promise<void> {
    const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
    const start = set.spec?.ordinals?.start ?? 0;
    const end = start + (set.spec?.replicas ?? 1);
    for (const pod of pods) {
      const ordinal = ordinalOf(set, pod);
      if (ordinal === undefined) continue;
      const isCondemned = ordinal < start || ordinal >= end;
      const byPod = isCondemned && whenScaled === 'Delete';
      const bySet = !byPod && whenDeleted === 'Delete';
      const wanted = byPod ? [controllerRef(pod, core.Pod)] : bySet ? [controllerRef(set, apps.StatefulSet)] : [];
      for (const claim of claimsFor(set, ordinal)) await this.#setOwners(claim, wanted, [set.metadata.uid, pod.metadata.uid]);
    }
  }

  async #setOwners(
    { metadata }: core.PersistentVolumeClaim,
    wanted: readonly meta.OwnerReference[],
    ours: readonly (string | undefined)[],
  ): Promise<void> {
    const claim = this.#claims.get(metadata);
    if (claim === undefined) return;
    const before = claim.metadata.ownerReferences ?? [];
    const kept = before.filter(({ uid }) => !ours.includes(uid));
    const isSame = before.length === kept.length + wanted.length && wanted.every(({ uid }) => before.some((each) => each.uid === uid));
    if (isSame) return;
    const changed = { ...claim, metadata: { ...claim.metadata, ownerReferences: [...kept, ...wanted] } };
    await this.context.client.of(core.PersistentVolumeClaim).update(changed);
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
