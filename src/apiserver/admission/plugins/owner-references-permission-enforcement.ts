import type { meta } from '#api';
import { deepEqual, type JsonValue, parseGroupVersion } from '#machinery';
import type { AuthorizationAttributes, Authorizer, Decision } from '../../authz/authorizer.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, pluginForbiddenError } from './plugin-deps.ts';

type Owners = readonly meta.OwnerReference[];
type Deps = PluginDeps & { readonly authorizer: Authorizer };

/**
 * Changing owner references needs the right to delete the object, since the garbage collector may delete it then. Blocking an owner's
 * deletion needs the right to update the owner's finalizers.
 */
export function ownerReferencesPermissionEnforcement(deps: Deps): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    operations: ['CREATE', 'UPDATE'],
    validate: async (attributes) => {
      const { resource, subresource, operation, object, oldObject } = attributes;
      // The registry keeps the owner references of pods in updates of their status.
      if (resource.group === '' && resource.resource === 'pods' && subresource === 'status') return;
      const owners = ownersOf(object);
      const before = ownersOf(oldObject);
      if (deepEqual(owners as unknown as JsonValue, before as unknown as JsonValue)) return;
      if (operation !== 'CREATE') await demandDelete(attributes, deps);
      await demandFinalizers(attributes, newlyBlocking(owners, before), deps);
    },
  };
}

function ownersOf(object: unknown): Owners {
  return ((object as KubeObject | undefined)?.metadata?.ownerReferences ?? []) as Owners;
}

async function demandDelete(attributes: AdmissionAttributes, { authorizer }: Deps): Promise<void> {
  const { resource, subresource, namespace, name } = attributes;
  const { group, version, resource: plural } = resource;
  const decision = await authorizer.authorize({
    ...requestBy(attributes, 'delete'),
    ...{ group, version, resource: plural, subresource, namespace, name },
  });
  if (decision.verdict !== 'allow') {
    throw pluginForbiddenError(attributes, `cannot set an ownerRef on a resource you can't delete: ${reasonText(decision)}`);
  }
}

/** References that block now and did not before. */
function newlyBlocking(owners: Owners, before: Owners): Owners {
  const blocked = new Set(before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid));
  return owners.filter(({ uid, blockOwnerDeletion }) => blockOwnerDeletion && !blocked.has(uid));
}

async function demandFinalizers(attributes: AdmissionAttributes, blocking: Owners, deps: Deps): Promise<void> {
  if (blocking.length === 0) return;
  const request = { ...requestBy(attributes, 'update'), subresource: 'finalizers', namespace: '' };
  const allDecision = await deps.authorizer.authorize({ ...request, group: '*', version: '*', resource: '*', name: '*' });
  if (allDecision.verdict === 'allow') return;
  for (const owner of blocking) {
    const decision = await deps.authorizer.authorize({ ...request, ...ownerPlace(attributes, owner, deps) });
    if (decision.verdict === 'allow') continue;
    const detail = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    throw pluginForbiddenError(attributes, `${detail}: ${reasonText(decision)}`);
  }
}

function ownerPlace(attributes: AdmissionAttributes, { apiVersion, kind, name }: meta.OwnerReference, { table }: Deps) {
  const { group, version } = parseGroupVersion(apiVersion ?? '');
  const served = table.findKind(group, version, kind ?? '');
  if (served === undefined) {
    const missing = `no matches for kind "${kind}" in version "${apiVersion}"`;
    const detail = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`;
    throw pluginForbiddenError(attributes, `${detail}: ${missing}`);
  }
  // An owner is cluster-scoped, or in the namespace of what it owns.
  return { group, version, resource: served.resource, name: name ?? '', namespace: served.namespaced ? attributes.namespace : '' };
}

function requestBy({ user }: AdmissionAttributes, verb: string): AuthorizationAttributes {
  const emptyAttributes = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };
  return { user, verb, isResource: true, path: '', ...emptyAttributes };
}

function reasonText({ reason, error }: Decision): string {
  return `${reason}, ${error ?? '<nil>'}`;
}
