import type { apps } from '#api';
import { DESIRED_REPLICAS, LAST_APPLIED, MAX_REPLICAS, parseRevision, REVISION, REVISION_HISTORY, ROLLBACK_TO } from './annotations.ts';
import { maxSurge, replicasInSpec } from './scaling.ts';

/** The revision-history annotation is truncated to this length, oldest revisions first. */
const MAX_HISTORY_LENGTH = 2000;

/** Not copied from a deployment to its replica sets. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  LAST_APPLIED,
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  ROLLBACK_TO,
]);

type Annotations = Readonly<Record<string, string>>;

/** Undefined when it is absent or cannot be parsed. */
export function revisionOf(object: { readonly metadata: { readonly annotations?: Annotations } }): bigint | undefined {
  return parseRevision(object.metadata.annotations?.[REVISION]);
}

/** Newest first; those without a revision are last. */
function revisionsOf(sets: readonly apps.ReplicaSet[]): readonly bigint[] {
  return sets.toSorted((a, b) => compareRevisions(b, a)).map((set) => revisionOf(set) ?? 0n);
}

export function compareRevisions(a: apps.ReplicaSet, b: apps.ReplicaSet): number {
  const [first, second] = [revisionOf(a) ?? 0n, revisionOf(b) ?? 0n];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** The highest revision; 0 when there is none. */
export function maxRevision(sets: readonly apps.ReplicaSet[]): bigint {
  const [highest = 0n] = revisionsOf(sets);
  return highest < 0n ? 0n : highest;
}

/** The second-highest revision; 0 when there is none. */
export function lastRevision(sets: readonly apps.ReplicaSet[]): bigint {
  const [, second = 0n] = revisionsOf(sets);
  return second < 0n ? 0n : second;
}

/** The desired annotations of the current replica set: the deployment's, the revision, and the earlier revisions. */
export function currentSetAnnotations(deployment: apps.Deployment, existing: Annotations, revision: bigint): Annotations {
  const handedOn = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  const annotations = { ...existing, ...Object.fromEntries(handedOn) };
  const before = existing[REVISION];
  if (before !== undefined && before !== '' && parseRevision(before) === undefined) return annotations;
  if ((parseRevision(before) ?? 0n) >= revision) return annotations;
  const history = before === undefined ? {} : withHistory(existing[REVISION_HISTORY] ?? '', before);
  return { ...annotations, [REVISION]: String(revision), ...history };
}

function withHistory(history: string, revision: string): Annotations {
  if (history === '') return { [REVISION_HISTORY]: revision };
  const text = `${history},${revision}`;
  if (text.length <= MAX_HISTORY_LENGTH) return { [REVISION_HISTORY]: text };
  const last = text.length - revision.length - 1;
  const comma = text.indexOf(',', Math.min(last, text.length - MAX_HISTORY_LENGTH - 1));
  return { [REVISION_HISTORY]: text.slice(comma + 1) };
}

/** Records the deployment's size on the replica set, so that a later resize is detected and distributed proportionally. */
export function sizeAnnotations(deployment: apps.Deployment): Annotations {
  const replicas = replicasInSpec(deployment);
  return { [DESIRED_REPLICAS]: String(replicas), [MAX_REPLICAS]: String(replicas + maxSurge(deployment)) };
}

/** The annotations of a rolled-back deployment: the set's, and those of its own that are not copied to sets. */
export function rolledBackAnnotations(deployment: apps.Deployment, set: apps.ReplicaSet): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => OWN_ANNOTATIONS.has(key));
  const former = Object.entries(set.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  return Object.fromEntries([...own, ...former]);
}
