import type { apps, core, Kind } from '#api';
import type { Identified } from '#client';
import { deepEqual, type JsonObject } from '#machinery';
import { type ClaimOptions, claimObjects } from './claim-objects.ts';
import { controllerOf, controllerRef, isControlledBy } from './controller-ref.ts';
import { templateHash } from './template-hash.ts';

type Revision = apps.ControllerRevision;

export interface RevisionOwner {
  readonly owner: Identified;
  readonly kind: Kind<unknown>;
  readonly template: core.PodTemplateSpec;
  /** Of the owner, which its revisions have too. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly collisionCount: number | undefined;
  /** The label of a revision that holds its hash. Default: that of daemon sets. */
  readonly hashLabel?: string;
}

export type RevisionAction =
  | { readonly type: 'none'; readonly current: Revision }
  | { readonly type: 'update'; readonly current: Revision }
  | { readonly type: 'create'; readonly current: Revision };

const HASH_LABEL = 'controller-revision-hash';

/** What must be done so that the current template is the newest revision. */
export function currentRevision(owner: RevisionOwner, existing: readonly Revision[]): RevisionAction {
  const data = { spec: { template: { ...owner.template, $patch: 'replace' } } };
  const newest = Math.max(0, ...existing.map(({ revision }) => revision));
  const known = existing.find((revision) => deepEqual(revision.data as JsonObject, data as unknown as JsonObject));
  if (known !== undefined) {
    return known.revision === newest ? { type: 'none', current: known } : { type: 'update', current: { ...known, revision: newest + 1 } };
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

/** The revisions that belong to an owner, with those of its kind that belonged to nobody, which are adopted. */
export function claimRevisions(existing: readonly Revision[], options: ClaimOptions<Revision>): Promise<readonly Revision[]> {
  const { owner, selector } = options;
  const free = (revision: Revision) => controllerOf(revision) === undefined && selector.matches(revision.metadata.labels);
  return claimObjects(
    existing.filter((revision) => isControlledBy(revision, owner) || free(revision)),
    options,
  );
}

/** Beyond the limit, those that no pod has, the oldest first. */
export function outdatedRevisions(existing: readonly Revision[], live: ReadonlySet<string>, limit: number): readonly Revision[] {
  const unused = existing.filter(({ metadata }) => !live.has(metadata.labels?.[HASH_LABEL] ?? ''));
  return unused.sort((a, b) => a.revision - b.revision).slice(0, Math.max(0, unused.length - limit));
}

export function revisionHash({ metadata }: Revision): string {
  return metadata.labels?.[HASH_LABEL] ?? '';
}
