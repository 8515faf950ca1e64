import type { apps, core, Kind } from '#api';
import { maxOf } from '#base';
import type { Identified } from '#client';
import { deepEqual, type JsonObject } from '#machinery';
import { type ClaimOptions, claimObjects } from './claim-objects.ts';
import { controllerOf, controllerRef, isControlledBy } from './controller-ref.ts';
import { sortedKeys } from './sorted-keys.ts';
import { templateHash } from './template-hash.ts';

type Revision = apps.ControllerRevision;

export interface RevisionOwner {
  readonly owner: Identified;
  readonly kind: Kind<unknown>;
  readonly template: core.PodTemplateSpec;
  /** The owner's annotations, copied to its revisions. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly collisionCount: number | undefined;
  /** The label with the revision's hash. Default: the one of daemon sets. */
  readonly hashLabel?: string;
}

export type RevisionAction =
  | { readonly type: 'none'; readonly current: Revision }
  | { readonly type: 'update'; readonly current: Revision }
  | { readonly type: 'create'; readonly current: Revision };

const HASH_LABEL = 'controller-revision-hash';

/** What to do so that the current template is the newest revision. */
export function currentRevision(owner: RevisionOwner, existing: readonly Revision[]): RevisionAction {
  // kubectl compares the bytes of two revisions, and upstream writes them with sorted keys.
  const data = sortedKeys({ spec: { template: { ...owner.template, $patch: 'replace' } } } as unknown as JsonObject);
  const newest = maxOf(
    existing.map(({ revision }) => revision),
    0,
  );
  const match = existing.find((revision) => deepEqual(revision.data as JsonObject, data));
  if (match !== undefined) {
    return match.revision === newest ? { type: 'none', current: match } : { type: 'update', current: { ...match, revision: newest + 1 } };
  }
  const hash = templateHash(data, owner.collisionCount);
  const { name, namespace = '' } = owner.owner.metadata;
  const metadata = {
    name: `${name}-${hash}`,
    namespace,
    labels: { ...owner.template.metadata?.labels, [owner.hashLabel ?? HASH_LABEL]: hash },
    ...(owner.annotations && { annotations: owner.annotations }),
    ownerReferences: [controllerRef(owner.owner, owner.kind)],
  };
  return { type: 'create', current: { metadata, data, revision: newest + 1 } };
}

/** The owner's revisions; orphaned ones of its kind are adopted. */
export function claimRevisions(existing: readonly Revision[], options: ClaimOptions<Revision>): Promise<readonly Revision[]> {
  const { owner, selector } = options;
  const free = (revision: Revision) => controllerOf(revision) === undefined && selector.matches(revision.metadata.labels);
  return claimObjects(
    existing.filter((revision) => isControlledBy(revision, owner) || free(revision)),
    options,
  );
}

/** Unused revisions beyond the limit, oldest first. */
export function outdatedRevisions(existing: readonly Revision[], live: ReadonlySet<string>, limit: number): readonly Revision[] {
  const unused = existing.filter(({ metadata }) => !live.has(metadata.labels?.[HASH_LABEL] ?? ''));
  return unused.sort((a, b) => a.revision - b.revision).slice(0, Math.max(0, unused.length - limit));
}

export function revisionHash({ metadata }: Revision): string {
  return metadata.labels?.[HASH_LABEL] ?? '';
}
