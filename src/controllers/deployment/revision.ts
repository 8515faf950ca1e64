import type { apps } from '#api';
import { DESIRED_REPLICAS, LAST_APPLIED, MAX_REPLICAS, parseCount, REVISION, REVISION_HISTORY, ROLLBACK_TO } from './annotations.ts';
import { maxSurge, wantedReplicas } from './scaling.ts';

/** Longer lists of former revisions lose their oldest. */
const MAX_HISTORY_LENGTH = 2000;

/** Not handed on from a deployment to its replica sets. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  LAST_APPLIED,
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  ROLLBACK_TO,
]);

type Annotations = Readonly<Record<string, string>>;

/** Undefined when there is none, or none that can be read. */
export function revisionOf(object: { readonly metadata: { readonly annotations?: Annotations } }): number | undefined {
  return parseCount(object.metadata.annotations?.[REVISION]);
}

export function maxRevision(sets: readonly apps.ReplicaSet[]): number {
  return Math.max(0, ...sets.map((set) => revisionOf(set) ?? 0));
}

/** The one before the newest; 0 when there is none. */
export function lastRevision(sets: readonly apps.ReplicaSet[]): number {
  const revisions = sets.map((set) => revisionOf(set) ?? 0).sort((a, b) => b - a);
  return Math.max(0, revisions[1] ?? 0);
}

/** The annotations that the current replica set should have: those of the deployment, and the revision with those it had before. */
export function currentSetAnnotations(deployment: apps.Deployment, existing: Annotations, revision: number): Annotations {
  const handedOn = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  const annotations = { ...existing, ...Object.fromEntries(handedOn) };
  const before = existing[REVISION];
  if (before !== undefined && before !== '' && parseCount(before) === undefined) return annotations;
  if ((parseCount(before) ?? 0) >= revision) return annotations;
  const history = before === undefined ? {} : withHistory(existing[REVISION_HISTORY] ?? '', before);
  return { ...annotations, [REVISION]: String(revision), ...history };
}

function withHistory(history: string, revision: string): Annotations {
  if (history === '') return { [REVISION_HISTORY]: revision };
  const kept = history.split(',');
  while (kept.length > 0 && [...kept, revision].join(',').length > MAX_HISTORY_LENGTH) kept.shift();
  return { [REVISION_HISTORY]: [...kept, revision].join(',') };
}

/** What a replica set remembers of its deployment's size, so that a later change of it is recognized and shared out. */
export function sizeAnnotations(deployment: apps.Deployment): Annotations {
  const replicas = wantedReplicas(deployment);
  return { [DESIRED_REPLICAS]: String(replicas), [MAX_REPLICAS]: String(replicas + maxSurge(deployment)) };
}

/** The annotations of a deployment that goes back to a replica set: those of the set, and of its own those that are not handed on. */
export function rolledBackAnnotations(deployment: apps.Deployment, set: apps.ReplicaSet): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => OWN_ANNOTATIONS.has(key));
  const former = Object.entries(set.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  return Object.fromEntries([...own, ...former]);
}
