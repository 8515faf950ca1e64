import { apps, core } from '#api';
import { deepEqual } from '#machinery';
import { controllerRef } from '../runtime/controller-ref.ts';
import { templateHash } from '../runtime/template-hash.ts';
import { isActive, type OwnedReplicaSets, replicasOf, sumOf, TEMPLATE_HASH_LABEL } from './replica-sets.ts';
import { compareRevisions, currentSetAnnotations, maxRevision, sizeAnnotations } from './revision.ts';
import { currentSetReplicas, type Scale } from './scaling.ts';

/** The desired current replica set; the same object if nothing changes. */
export function syncedCurrentSet(deployment: apps.Deployment, { current, old }: OwnedReplicaSets): apps.ReplicaSet | undefined {
  if (current === undefined) return undefined;
  const before = current.metadata.annotations ?? {};
  const annotations = currentSetAnnotations(deployment, before, maxRevision(old) + 1n);
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  const isSame = deepEqual(annotations, before) && (current.spec?.minReadySeconds ?? 0) === minReadySeconds;
  if (isSame) return current;
  return { ...current, metadata: { ...current.metadata, annotations }, spec: { ...current.spec!, minReadySeconds } };
}

/** The replica set for the deployment's template, as it is first created. */
export function newReplicaSet(deployment: apps.Deployment, old: readonly apps.ReplicaSet[]): apps.ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec!;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const label = { [TEMPLATE_HASH_LABEL]: hash };
  const labels = { ...template.metadata?.labels, ...label };
  const { name, namespace } = deployment.metadata;
  return {
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace !== undefined && { namespace }),
      labels,
      annotations: { ...currentSetAnnotations(deployment, {}, maxRevision(old) + 1n), ...sizeAnnotations(deployment) },
      ownerReferences: [controllerRef(deployment, apps.Deployment)],
    },
    spec: {
      replicas: currentSetReplicas(deployment, old, 0),
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...label } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** The replica set with another size and its size annotations; the same object if nothing differs. */
export function scaledSet(deployment: apps.Deployment, { set, replicas }: Scale): apps.ReplicaSet {
  const before = set.metadata.annotations ?? {};
  const annotations = { ...before, ...sizeAnnotations(deployment) };
  if (replicasOf(set) === replicas && deepEqual(before, annotations)) return set;
  return { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec!, replicas } };
}

export type RecreateStep =
  | { readonly type: 'scale'; readonly scales: readonly Scale[] }
  /** Old pods still run. */
  | { readonly type: 'wait' }
  | { readonly type: 'bring up' };

/** Recreate: all old pods terminate before new ones are created. */
export function recreateStep({ current, old }: OwnedReplicaSets, podsOf: (set: apps.ReplicaSet) => readonly core.Pod[]): RecreateStep {
  const active = old.filter(isActive);
  if (active.length > 0) return { type: 'scale', scales: active.map((set) => ({ set, replicas: 0 })) };
  const isRunning = (pod: core.Pod) => !core.isPodTerminal(pod);
  const others = old.filter((set) => set !== current);
  const areRunning = sumOf(others, ({ status }) => status?.replicas ?? 0) > 0 || others.some((set) => podsOf(set).some(isRunning));
  return areRunning ? { type: 'wait' } : { type: 'bring up' };
}

const NO_LIMIT = 2 ** 31 - 1;

/** Old replica sets beyond the history limit, oldest first; those with pods stay. */
export function outdatedSets({ spec }: apps.Deployment, old: readonly apps.ReplicaSet[]): readonly apps.ReplicaSet[] {
  const { revisionHistoryLimit: limit = NO_LIMIT } = spec ?? {};
  const liveSets = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = liveSets.length - limit;
  if (limit === NO_LIMIT || surplus <= 0) return [];
  const byRevision = liveSets.sort(compareRevisions);
  return byRevision.slice(0, surplus).filter(isUnused);
}

function isUnused(set: apps.ReplicaSet): boolean {
  const { replicas = 0, observedGeneration = 0 } = set.status ?? {};
  return replicas === 0 && replicasOf(set) === 0 && (set.metadata.generation ?? 0) <= observedGeneration;
}
