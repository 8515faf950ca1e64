import type { meta, rbac } from '#api';
import { type JsonValue, semanticEqual } from '#machinery';
import { uncovered } from './covers.ts';

type AnyRole = rbac.Role & Pick<rbac.ClusterRole, 'aggregationRule'>;
type AnyBinding = rbac.RoleBinding | rbac.ClusterRoleBinding;

const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

/** What is to be done so that an object grants at least what it should. */
export type Reconciliation<T> =
  | { readonly action: 'none' }
  /** It would have to change, but says that it wants to stay as it is. */
  | { readonly action: 'protected' }
  | { readonly action: 'update'; readonly object: T }
  /** What must change cannot: another object takes its place. */
  | { readonly action: 'recreate'; readonly object: T };

/** Adds what an existing role lacks of an expected one. What it grants beyond that stays. */
export function reconcileRole<T extends AnyRole>(existing: T, expected: T): Reconciliation<T> {
  const missing = same(existing.rules, expected.rules) ? [] : uncovered(existing.rules ?? [], expected.rules ?? []);
  const aggregationRule = reconciledAggregation(existing.aggregationRule ?? undefined, expected.aggregationRule ?? undefined);
  const { aggregationRule: _, ...rest } = existing;
  const wanted = {
    ...rest,
    metadata: reconciledMetadata(existing.metadata, expected.metadata),
    ...(missing.length > 0 && { rules: [...(existing.rules ?? []), ...missing] }),
    ...(aggregationRule && { aggregationRule }),
  } as unknown as T;
  return decide(existing, wanted);
}

/** Selectors that an expected aggregation has must be there; one that is not expected at all goes. */
function reconciledAggregation(existing: rbac.AggregationRule | undefined, expected: rbac.AggregationRule | undefined) {
  if (expected === undefined) return undefined;
  const present = existing?.clusterRoleSelectors ?? [];
  const missing = (expected.clusterRoleSelectors ?? []).filter((selector) => !present.some((own) => same(own, selector)));
  return existing !== undefined && missing.length === 0 ? existing : { ...existing, clusterRoleSelectors: [...present, ...missing] };
}

/** Adds the subjects that an existing binding lacks. One that binds another role is made anew, for that cannot change. */
export function reconcileBinding<T extends AnyBinding>(existing: T, expected: T): Reconciliation<T> {
  const metadata = reconciledMetadata(existing.metadata, expected.metadata);
  if (!same(existing.roleRef, expected.roleRef)) {
    if (isProtected(existing)) return { action: 'protected' };
    return { action: 'recreate', object: { ...expected, metadata: { ...expected.metadata, ...labelsAndAnnotations(metadata) } } };
  }
  const subjects = existing.subjects ?? [];
  const missing = (expected.subjects ?? []).filter((subject) => !subjects.some((own) => same(own, subject)));
  const wanted = { ...existing, metadata, ...(missing.length > 0 && { subjects: [...subjects, ...missing] }) };
  return decide(existing, wanted);
}

function decide<T extends AnyRole | AnyBinding>(existing: T, wanted: T): Reconciliation<T> {
  if (same(existing, wanted)) return { action: 'none' };
  return isProtected(existing) ? { action: 'protected' } : { action: 'update', object: wanted };
}

function isProtected({ metadata }: AnyRole | AnyBinding): boolean {
  return metadata?.annotations?.[AUTO_UPDATE] === 'false';
}

/** Expected labels and annotations are added; those that are there already keep their values. */
function reconciledMetadata(existing: meta.ObjectMeta = {}, expected: meta.ObjectMeta = {}): meta.ObjectMeta {
  const labels = { ...expected.labels, ...existing.labels };
  const annotations = { ...expected.annotations, ...existing.annotations };
  return { ...existing, ...labelsAndAnnotations({ labels, annotations }) };
}

function labelsAndAnnotations({ labels = {}, annotations = {} }: meta.ObjectMeta): meta.ObjectMeta {
  return {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

function same(a: unknown, b: unknown): boolean {
  return semanticEqual(a as JsonValue, b as JsonValue);
}
