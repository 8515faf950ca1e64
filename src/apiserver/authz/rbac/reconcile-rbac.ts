import { type Kind, rbac } from '#api';
import type { Logger } from '#base';
import { type Client, type Draft, type Identified, keyOf, type ResourceClient } from '#client';
import { isStatusReason } from '#machinery';
import { type Reconciliation, reconcileBinding, reconcileRole } from './reconcile-role.ts';

/** The default roles and bindings of a cluster. */
export interface RbacPolicy {
  readonly clusterRoles: readonly Draft<Identified & rbac.ClusterRole>[];
  readonly clusterRoleBindings: readonly Draft<Identified & rbac.ClusterRoleBinding>[];
  readonly roles: readonly Draft<Identified & rbac.Role>[];
  readonly roleBindings: readonly Draft<Identified & rbac.RoleBinding>[];
}

const ATTEMPTS = 5;

/**
 * Creates missing default roles and bindings, and adds missing rules and subjects to existing ones. Additions of users stay, and objects
 * annotated with autoupdate=false are not changed. Needs a privileged client and the namespaces of the policy. Rejects if an object could
 * not be reconciled, after trying all others.
 */
export async function reconcileRbac(client: Client, policy: RbacPolicy, logger: Logger): Promise<void> {
  const all = await Promise.all([
    reconcileAll(client, { kind: rbac.ClusterRole, objects: policy.clusterRoles, reconcile: reconcileRole, logger }),
    reconcileAll(client, { kind: rbac.ClusterRoleBinding, objects: policy.clusterRoleBindings, reconcile: reconcileBinding, logger }),
    reconcileAll(client, { kind: rbac.Role, objects: policy.roles, reconcile: reconcileRole, logger }),
    reconcileAll(client, { kind: rbac.RoleBinding, objects: policy.roleBindings, reconcile: reconcileBinding, logger }),
  ]);
  const failures = all.flat();
  if (failures.length > 0) throw new AggregateError(failures, 'cannot bring all default roles and bindings in order');
}

interface ReconcileOptions<T> {
  readonly kind: Kind<T>;
  readonly objects: readonly unknown[];
  readonly reconcile: (existing: never, expected: never) => Reconciliation<unknown>;
  readonly logger: Logger;
}

/** Resolves to the errors. */
async function reconcileAll<T>(client: Client, { kind, objects, reconcile, logger }: ReconcileOptions<T>): Promise<readonly unknown[]> {
  if (objects.length === 0) return [];
  const resource = client.of(kind as unknown as Kind<Identified>);
  const { items } = await resource.list();
  const present = new Map(items.map((item) => [keyOf(item), item]));
  const context = { reconcile: reconcile as unknown as Reconcile, logger, kind: kind.kind };
  const all = (objects as readonly Identified[]).map((expected) =>
    reconcileOne(resource, { expected, existing: present.get(keyOf(expected)) }, context),
  );
  return (await Promise.allSettled(all)).flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
}

interface ObjectPair {
  readonly expected: Identified;
  readonly existing: Identified | undefined;
}

type Reconcile = (existing: Identified, expected: Identified) => Reconciliation<Identified>;

interface ReconcileContext {
  readonly reconcile: Reconcile;
  readonly logger: Logger;
  readonly kind: string;
}

/** Retries after conflicts: another server may start at the same time. */
async function reconcileOne(
  resource: ResourceClient<Identified>,
  { expected, existing: listed }: ObjectPair,
  context: ReconcileContext,
): Promise<void> {
  let existing = listed;
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOne(resource, { expected, existing }, context);
    } catch (error) {
      const isRace = (['Conflict', 'AlreadyExists', 'NotFound'] as const).some((reason) => isStatusReason(error, reason));
      if (!isRace || attempt >= ATTEMPTS) throw error;
    }
    existing = await currentOf(resource, expected);
  }
}

async function currentOf(resource: ResourceClient<Identified>, { metadata }: Identified): Promise<Identified | undefined> {
  try {
    return await resource.get(metadata);
  } catch (error) {
    if (isStatusReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function attemptOne(
  resource: ResourceClient<Identified>,
  { expected, existing }: ObjectPair,
  { reconcile, logger, kind }: ReconcileContext,
): Promise<void> {
  const { name, namespace } = expected.metadata;
  if (existing === undefined) return void (await resource.create(expected as Draft<Identified>));
  const reconciliation = reconcile(existing, expected);
  switch (reconciliation.action) {
    case 'none':
      return;
    case 'protected':
      return logger.warn('a default role or binding is protected from updates, and lacks something', { kind, namespace, name });
    case 'update':
      return void (await resource.update(reconciliation.object));
    case 'recreate':
      await resource.delete(existing.metadata, { preconditions: { uid: existing.metadata.uid ?? '' } });
      return void (await resource.create(reconciliation.object as Draft<Identified>));
  }
}
