import { apps, core } from '#api';
import { type EventRecorder, keyOf, type Lister, parseKey, type SharedInformer } from '#client';
import { deepEqual, isStatusReason, lenientSelector, StatusError, selectorFromObject } from '#machinery';
import { claimObjects } from '../runtime/claim-objects.ts';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { controllerOf, controllerRef } from '../runtime/controller-ref.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { OwnWrites, type ResourceFollower } from '../runtime/own-writes.ts';
import { type PodsByController, podsByController } from '../runtime/pod-state.ts';
import { siblingValues } from '../runtime/replicas/replica-controller.ts';
import { REVISION, ROLLBACK_TO } from './annotations.ts';
import { newReplicaSet, outdatedSets, recreateStep, scaledSet, syncedCurrentSet } from './reconcile.ts';
import { allOf, classify, type OwnedReplicaSets, replicasOf, sameTemplate } from './replica-sets.ts';
import { planRollback } from './rollback.ts';
import { rollingStep } from './rolling-update.ts';
import { isRollingUpdate, isScalingEvent, replicasInSpec, resize, type Scale } from './scaling.ts';
import {
  type ConditionUpdate,
  countedStatus,
  hasProgressDeadline,
  isComplete,
  pauseCondition,
  rolloutStatus,
  timeToDeadline,
  withCondition,
} from './status.ts';

/** Rolls out deployments: a replica set for each template, replaced gradually or at once. */
export const deploymentController: Controller = {
  name: 'deployment-controller',
  aliases: ['deployment'],
  enabledByDefault: true,
  start: (context) => new DeploymentController(context, context.informers.of(apps.Deployment)),
};

type Deployment = apps.Deployment;
type ReplicaSet = apps.ReplicaSet;

const MAX_RETRIES = 15;

class DeploymentController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #events: EventRecorder;
  readonly #ownWrites = new OwnWrites();
  readonly #cache: ResourceFollower;
  readonly #deployments: Lister<Deployment>;
  readonly #sets: SharedInformer<ReplicaSet>;
  readonly #pods: PodsByController;

  constructor(
    private readonly context: ControllerContext,
    deployments: SharedInformer<Deployment>,
  ) {
    const { informers, options } = context;
    this.#events = context.recorder('deployment-controller');
    this.#cache = deployments;
    this.#deployments = deployments.lister;
    this.#sets = informers.of(apps.ReplicaSet).addIndex('controller', siblingValues);
    const pods = informers.of(core.Pod);
    this.#pods = podsByController(pods);
    this.#keyed = new KeyedController(context, {
      name: 'deployment',
      concurrency: options.concurrentDeploymentSyncs,
      maxRetries: MAX_RETRIES,
      isExpected: isGone,
      objects: deployments.lister,
      sync: (key) => this.#sync(key),
    });
    const own = this.#keyed.handler<Deployment>();
    deployments.addHandler({
      ...own,
      delete: (deployment) => {
        this.#ownWrites.forget(keyOf(deployment));
        own.delete?.(deployment);
      },
    });
    this.#sets.addHandler({
      add: (set) => this.#setChanged(set, true),
      update: (before, set) => this.#setUpdated(before, set),
      delete: (set) => this.#setChanged(set, false),
    });
    pods.addHandler({ delete: (pod) => this.#podDeleted(pod) });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  // --- events of replica sets and pods -------------------------------------------------------------------------------

  #ownerOf(set: ReplicaSet): Deployment | undefined {
    const reference = controllerOf(set);
    if (reference?.kind !== 'Deployment') return undefined;
    const deployment = this.#deployments.get({ name: reference.name, namespace: set.metadata.namespace });
    return deployment?.metadata.uid === reference.uid ? deployment : undefined;
  }

  #setChanged(set: ReplicaSet, mayBeAdopted: boolean): void {
    const owner = this.#ownerOf(set);
    if (owner !== undefined) this.#keyed.enqueue(owner);
    else if (mayBeAdopted && controllerOf(set) === undefined) this.#enqueueMatching(set);
  }

  #setUpdated(before: ReplicaSet, set: ReplicaSet): void {
    const isOwnerChanged = controllerOf(before)?.uid !== controllerOf(set)?.uid;
    const previous = isOwnerChanged ? this.#ownerOf(before) : undefined;
    if (previous !== undefined) this.#keyed.enqueue(previous);
    const areLabelsChanged = !deepEqual(before.metadata.labels, set.metadata.labels);
    this.#setChanged(set, isOwnerChanged || areLabelsChanged);
  }

  #enqueueMatching({ metadata }: ReplicaSet): void {
    for (const deployment of this.#deployments.list(metadata.namespace)) {
      const selector = lenientSelector(deployment.spec?.selector);
      if (!selector.isEmpty && selector.matches(metadata.labels)) this.#keyed.enqueue(deployment);
    }
  }

  /** A Recreate rollout continues when the last old pod is gone. */
  #podDeleted(pod: core.Pod): void {
    const reference = controllerOf(pod);
    if (reference?.kind !== 'ReplicaSet') return;
    const set = this.#sets.lister.get({ name: reference.name, namespace: pod.metadata.namespace });
    const deployment = set?.metadata.uid === reference.uid ? this.#ownerOf(set) : undefined;
    if (deployment?.spec?.strategy?.type !== 'Recreate') return;
    const sets = this.#sets.lister.byIndex('controller', deployment.metadata.uid ?? '');
    if (sets.every(({ metadata }) => this.#pods.countOwnedBy(metadata.uid ?? '') === 0)) this.#keyed.enqueue(deployment);
  }

  #podsOf(set: ReplicaSet): readonly core.Pod[] {
    return this.#pods.ownedBy(set.metadata.uid ?? '');
  }

  // --- syncing a deployment ------------------------------------------------------------------------------------------

  async #sync(key: string): Promise<void> {
    // Waits until its own writes are visible; otherwise it could exceed maxSurge.
    if (!this.#ownWrites.clearSeen(key)) return;
    const deployment = this.#deployments.get(parseKey(key));
    if (deployment === undefined) return this.#ownWrites.forget(key);
    try {
      if (selectorFromObject(deployment.spec?.selector).isEmpty) await this.#reportEmptySelector(deployment);
      else await this.#reconcile(deployment);
    } catch (error) {
      if (!(error instanceof StatusError && error.hasCause('NamespaceTerminating'))) throw error;
    }
  }

  async #reportEmptySelector(deployment: Deployment): Promise<void> {
    this.#events.warning(deployment, 'SelectingAll', 'This deployment is selecting all pods. A non-empty selector is required.');
    const { generation = 0 } = deployment.metadata;
    if ((deployment.status?.observedGeneration ?? 0) < generation) {
      await this.#writeStatus(deployment, { ...deployment.status, observedGeneration: generation });
    }
  }

  async #reconcile(observed: Deployment): Promise<void> {
    const sets = classify(observed, await this.#claim(observed));
    if (observed.metadata.deletionTimestamp !== undefined) return this.#reportCounts(observed, sets);
    const update = pauseCondition(observed);
    const deployment = update ? await this.#report(observed, update) : observed;
    if (deployment.spec?.paused) return this.#resize(deployment, sets);
    if (deployment.metadata.annotations?.[ROLLBACK_TO] !== undefined) return this.#rollBack(deployment, sets);
    if (isScalingEvent(deployment, sets)) return this.#resize(deployment, sets);
    return isRollingUpdate(deployment) ? this.#rollOut(deployment, sets) : this.#recreate(deployment, sets);
  }

  async #claim(deployment: Deployment): Promise<readonly ReplicaSet[]> {
    const { client } = this.context;
    const { namespace, uid } = deployment.metadata;
    return claimObjects(this.#sets.lister.list(namespace), {
      owner: deployment,
      ownerRef: controllerRef(deployment, apps.Deployment),
      selector: selectorFromObject(deployment.spec?.selector),
      client: client.of(apps.ReplicaSet),
      ensureCanAdopt: async () => {
        const live = await client.of(apps.Deployment).get(deployment.metadata);
        if (live.metadata.uid !== uid) throw new Error(`original Deployment ${keyOf(deployment)} is gone`);
        if (live.metadata.deletionTimestamp !== undefined) throw new Error(`${keyOf(deployment)} has just been deleted`);
      },
    });
  }

  async #resize(observed: Deployment, owned: OwnedReplicaSets): Promise<void> {
    const { deployment, sets } = await this.#syncCurrent(observed, owned);
    await this.#scale(deployment, resize(deployment, sets));
    if (deployment.spec?.paused && deployment.metadata.annotations?.[ROLLBACK_TO] === undefined) await this.#cleanUp(deployment, sets.old);
    await this.#reportCounts(deployment, sets);
  }

  async #rollOut(observed: Deployment, owned: OwnedReplicaSets): Promise<void> {
    const { deployment, sets } = await this.#ensureCurrent(observed, owned);
    const scales = rollingStep(deployment, sets);
    await this.#scale(deployment, scales);
    if (scales.length === 0 && isComplete(deployment, deployment.status ?? {})) await this.#cleanUp(deployment, sets.old);
    await this.#reportRollout(deployment, sets);
  }

  async #recreate(observed: Deployment, owned: OwnedReplicaSets): Promise<void> {
    const { deployment, sets } = await this.#syncCurrent(observed, owned);
    const step = recreateStep(sets, (set) => this.#podsOf(set));
    if (step.type === 'scale') await this.#scale(deployment, step.scales);
    if (step.type !== 'bring up') return this.#reportRollout(deployment, sets);
    const after = await this.#ensureCurrent(deployment, sets);
    const { current } = after.sets;
    if (current) await this.#scale(after.deployment, [{ set: current, replicas: replicasInSpec(after.deployment) }]);
    if (isComplete(after.deployment, after.deployment.status ?? {})) await this.#cleanUp(after.deployment, sets.old);
    await this.#reportRollout(after.deployment, after.sets);
  }

  async #rollBack(observed: Deployment, owned: OwnedReplicaSets): Promise<void> {
    const { deployment, sets } = await this.#ensureCurrent(observed, owned);
    const { event, rolledBack } = planRollback(deployment, allOf(sets));
    if (event) this.#events.record(deployment, event);
    this.#ownWrites.wrote(keyOf(observed), this.#cache, await this.context.client.of(apps.Deployment).update(rolledBack));
  }

  // --- the current replica set ---------------------------------------------------------------------------------------

  /** Brings the annotations of an existing current set and of the deployment in line. */
  async #syncCurrent(deployment: Deployment, sets: OwnedReplicaSets): Promise<SyncedDeployment> {
    const desired = syncedCurrentSet(deployment, sets);
    if (desired === undefined) return { deployment, sets };
    if (desired !== sets.current) {
      const current = await this.#updateSet(deployment, desired);
      return { deployment, sets: { ...sets, current } };
    }
    const isUnsaid = hasProgressDeadline(deployment) && !deployment.status?.conditions?.some(({ type }) => type === 'Progressing');
    const update: ConditionUpdate = {
      type: 'Progressing',
      status: 'True',
      reason: 'FoundNewReplicaSet',
      message: `Found new replica set "${desired.metadata.name}"`,
    };
    const revision = desired.metadata.annotations?.[REVISION];
    return { deployment: await this.#reportRevision(deployment, revision, isUnsaid ? update : undefined), sets };
  }

  async #ensureCurrent(deployment: Deployment, sets: OwnedReplicaSets): Promise<SyncedDeployment> {
    if (sets.current !== undefined) return this.#syncCurrent(deployment, sets);
    const draft = newReplicaSet(deployment, sets.old);
    const existing = await this.#create(deployment, draft);
    const current = existing.set;
    if (existing.isNew && replicasOf(current) > 0) {
      this.#events.normal(
        deployment,
        'ScalingReplicaSet',
        `Scaled up replica set ${current.metadata.name} from 0 to ${replicasOf(current)}`,
      );
    }
    const created: ConditionUpdate = {
      type: 'Progressing',
      status: 'True',
      reason: 'NewReplicaSetCreated',
      message: `Created new replica set "${current.metadata.name}"`,
    };
    const update = existing.isNew && hasProgressDeadline(deployment) ? created : undefined;
    const revision = draft.metadata.annotations?.[REVISION];
    return { deployment: await this.#reportRevision(deployment, revision, update), sets: { ...sets, current } };
  }

  async #create(deployment: Deployment, draft: ReplicaSet): Promise<{ readonly set: ReplicaSet; readonly isNew: boolean }> {
    const client = this.context.client.of(apps.ReplicaSet);
    try {
      const set = await client.create(draft);
      this.#ownWrites.wrote(keyOf(deployment), this.#sets, set);
      return { set, isNew: true };
    } catch (error) {
      if (isStatusReason(error, 'AlreadyExists')) return this.#findCreated(deployment, draft, error);
      if (error instanceof StatusError && error.hasCause('NamespaceTerminating')) throw error;
      await this.#reportFailure(deployment, `Failed to create new replica set "${draft.metadata.name}": ${(error as Error).message}`);
      throw error;
    }
  }

  /** AlreadyExists: our own set that the cache does not show yet, or a hash collision. */
  async #findCreated(deployment: Deployment, draft: ReplicaSet, error: unknown) {
    const set = await this.context.client.of(apps.ReplicaSet).get(draft.metadata);
    const isFromThisSync =
      controllerOf(set)?.uid === deployment.metadata.uid && sameTemplate(set.spec?.template, deployment.spec?.template);
    if (isFromThisSync) return { set, isNew: false };
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await this.#writeStatus(deployment, { ...deployment.status, collisionCount });
    throw error;
  }

  async #reportFailure(deployment: Deployment, message: string): Promise<void> {
    const reason = 'ReplicaSetCreateError';
    if (hasProgressDeadline(deployment)) await this.#report(deployment, { type: 'Progressing', status: 'False', reason, message });
    this.#events.warning(deployment, reason, message);
  }

  // --- writing -------------------------------------------------------------------------------------------------------

  async #scale(deployment: Deployment, scales: readonly Scale[]): Promise<void> {
    for (const scale of scales) {
      const desired = scaledSet(deployment, scale);
      if (desired === scale.set) continue;
      await this.#updateSet(deployment, desired);
      const before = replicasOf(scale.set);
      if (before === scale.replicas) continue;
      const direction = before < scale.replicas ? 'up' : 'down';
      const { name } = scale.set.metadata;
      const message = `Scaled ${direction} replica set ${name} from ${before} to ${scale.replicas}`;
      this.#events.normal(deployment, 'ScalingReplicaSet', message);
    }
  }

  async #cleanUp(deployment: Deployment, old: readonly ReplicaSet[]): Promise<void> {
    for (const set of outdatedSets(deployment, old)) {
      await this.context.client
        .of(apps.ReplicaSet)
        .delete(set.metadata)
        .catch((error: unknown) => {
          if (!isStatusReason(error, 'NotFound')) throw error;
        });
    }
  }

  #report(deployment: Deployment, update: ConditionUpdate): Promise<Deployment> {
    const conditions = [...withCondition(deployment.status?.conditions, update, this.context.clock.now())];
    return this.#writeStatus(deployment, { ...deployment.status, conditions });
  }

  /** The revision annotation is written together with the status. */
  async #reportRevision(deployment: Deployment, revision: string | undefined, update: ConditionUpdate | undefined): Promise<Deployment> {
    const { annotations = {} } = deployment.metadata;
    const isSame = revision === undefined || annotations[REVISION] === revision;
    if (isSame && update === undefined) return deployment;
    const changed = isSame
      ? deployment
      : { ...deployment, metadata: { ...deployment.metadata, annotations: { ...annotations, [REVISION]: revision } } };
    return update ? this.#report(changed, update) : this.#writeStatus(changed, changed.status ?? {});
  }

  async #reportCounts(deployment: Deployment, sets: OwnedReplicaSets): Promise<void> {
    const status = countedStatus(deployment, sets, this.context.clock.now());
    if (!deepEqual(status, deployment.status)) await this.#writeStatus(deployment, status);
  }

  async #reportRollout(deployment: Deployment, sets: OwnedReplicaSets): Promise<void> {
    const now = this.context.clock.now();
    const status = rolloutStatus(deployment, sets, now);
    if (!deepEqual(status, deployment.status)) {
      await this.#writeStatus(deployment, status);
      return;
    }
    const left = timeToDeadline(deployment, status, now);
    if (left === undefined) return;
    if (left < 1000) this.#keyed.queue.addRateLimited(keyOf(deployment));
    else this.#keyed.enqueueAfter(deployment, left + 1000);
  }

  async #updateSet(deployment: Deployment, set: ReplicaSet): Promise<ReplicaSet> {
    const written = await this.context.client.of(apps.ReplicaSet).update(set);
    this.#ownWrites.wrote(keyOf(deployment), this.#sets, written);
    return written;
  }

  async #writeStatus(deployment: Deployment, status: apps.DeploymentStatus): Promise<Deployment> {
    const written = await this.context.client.of(apps.Deployment).updateStatus({ ...deployment, status });
    this.#ownWrites.wrote(keyOf(deployment), this.#cache, written);
    return written;
  }
}

interface SyncedDeployment {
  readonly deployment: Deployment;
  readonly sets: OwnedReplicaSets;
}
