import type { meta, rbac } from '#api';
import { type JsonValue, semanticEqual } from '#machinery';
import { uncoveredRules } from './uncovered-rules.ts';

type AnyRole = rbac.Role & Pick<rbac.ClusterRole, 'aggregationRule'>;
type AnyBinding = rbac.RoleBinding | rbac.ClusterRoleBinding;

const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

/** The write that brings an object up to date. */
export type Reconciliation<T> =
  | { readonly action: 'none' }
  /** Changes are needed, but autoupdate is disabled. */
  | { readonly action: 'protected' }
  | { readonly action: 'update'; readonly object: T }
  /** An immutable field differs: the object is replaced. */
  | { readonly action: 'recreate'; readonly object: T };

/** Adds missing rules to a role. Additional rules stay. */
export function reconcileRole<T extends AnyRole>(existing: T, expected: T): Reconciliation<T> {
  const missing = isSame(existing.rules, expected.rules) ? [] : uncoveredRules(existing.rules ?? [], expected.rules ?? []);
  const aggregationRule = reconciledAggregation(existing.aggregationRule ?? undefined, expected.aggregationRule ?? undefined);
  const { aggregationRule: _, ...rest } = existing;
  const desired = {
    ...rest,
    metadata: reconciledMetadata(existing.metadata, expected.metadata),
    ...(missing.length > 0 && { rules: [...(existing.rules ?? []), ...missing] }),
    ...(aggregationRule && { aggregationRule }),
  } as unknown as T;
  return decide(existing, desired);
}

/** Adds missing aggregation selectors; removes an aggregation rule that is not expected. */
function reconciledAggregation(existing: rbac.AggregationRule | undefined, expected: rbac.AggregationRule | undefined) {
  if (expected === undefined) return undefined;
  const present = existing?.clusterRoleSelectors ?? [];
  const missing = (expected.clusterRoleSelectors ?? []).filter((selector) => !present.some((own) => isSame(own, selector)));
  return existing !== undefined && missing.length === 0 ? existing : { ...existing, clusterRoleSelectors: [...present, ...missing] };
}

/** Adds missing subjects. A binding to another role is replaced, because roleRef is immutable. */
export function reconcileBinding<T extends AnyBinding>(existing: T, expected: T): Reconciliation<T> {
  const metadata = reconciledMetadata(existing.metadata, expected.metadata);
  if (!isSame(existing.roleRef, expected.roleRef)) {
    if (isProtected(existing)) return { action: 'protected' };
    return { action: 'recreate', object: { ...expected, metadata: { ...expected.metadata, ...labelsAndAnnotations(metadata) } } };
  }
  const subjects = existing.subjects ?? [];
  const missing = (expected.subjects ?? []).filter((subject) => !subjects.some((own) => isSame(own, subject)));
  const desired = { ...existing, metadata, ...(missing.length > 0 && { subjects: [...subjects, ...missing] }) };
  return decide(existing, desired);
}

function decide<T extends AnyRole | AnyBinding>(existing: T, desired: T): Reconciliation<T> {
  if (isSame(existing, desired)) return { action: 'none' };
  return isProtected(existing) ? { action: 'protected' } : { action: 'update', object: desired };
}

function isProtected({ metadata }: AnyRole | AnyBinding): boolean {
  return metadata?.annotations?.[AUTO_UPDATE] === 'false';
}

/** Adds missing labels and annotations; existing values stay. */
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

function isSame(a: unknown, b: unknown): boolean {
  return semanticEqual(a as JsonValue, b as JsonValue);
}
