import type { resource } from '#api';
import { FieldError, Path, StatusError } from '#machinery';
import type { AuthorizationAttributes, Authorizer } from '../../authz/authorizer.ts';
import { forbiddenError } from '../../authz/denial-error.ts';
import { type ClaimPermission, type ClaimRequirement, claimStatusRequirements } from '../../registry/resource/claim-authorization.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, readObject } from './plugin-deps.ts';

const GROUP = 'resource.k8s.io';
const ADMIN_LABEL = 'resource.kubernetes.io/admin-access';

/**
 * Checks the permissions to allocate devices and to report device status, and that admin access is used only in namespaces that allow it.
 * Upstream checks this during validation, so violations are field errors.
 */
export function resourceClaimAuthorization(deps: PluginDeps & { readonly authorizer: Authorizer }): AdmissionPlugin {
  return {
    name: 'ResourceClaimAuthorization',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => (attributes.resource.group === GROUP ? demandRights(attributes, deps) : undefined),
  };
}

async function demandRights(attributes: AdmissionAttributes, deps: PluginDeps & { readonly authorizer: Authorizer }): Promise<void> {
  const errors = await permissionErrors(attributes, deps);
  if (errors.length === 0) return;
  const { group, kind } = attributes.resource;
  throw StatusError.invalid({ group, kind }, (attributes.object as resource.ResourceClaim).metadata.name ?? '', errors);
}

async function permissionErrors(
  attributes: AdmissionAttributes,
  deps: PluginDeps & { readonly authorizer: Authorizer },
): Promise<readonly FieldError[]> {
  const { operation, subresource, object, oldObject } = attributes;
  const path = subresource === 'status' ? grantedPath(object, oldObject) : operation === 'CREATE' ? pathToAuthorize(attributes) : undefined;
  const admin = path === undefined ? [] : await adminErrors(path, attributes, deps);
  return subresource === 'status' ? [...admin, ...(await statusErrors(attributes, deps.authorizer))] : admin;
}

/** The path of the first admin access request. Specs are immutable, so only creation is checked. */
function pathToAuthorize({ resource: { resource: name }, object }: AdmissionAttributes): Path | undefined {
  const spec =
    name === 'resourceclaims'
      ? (object as resource.ResourceClaim).spec
      : name === 'resourceclaimtemplates'
        ? (object as resource.ResourceClaimTemplate).spec?.spec
        : undefined;
  const index = spec?.devices?.requests?.findIndex(({ exactly }) => exactly?.adminAccess) ?? -1;
  return index < 0 ? undefined : Path.of('spec', 'devices', 'requests').index(index).child('adminAccess');
}

function grantedPath(object: unknown, old: unknown): Path | undefined {
  const indexIn = (claim: unknown) =>
    ((claim as resource.ResourceClaim).status?.allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess);
  const index = indexIn(object);
  if (index < 0 || indexIn(old) >= 0) return undefined;
  return Path.of('status', 'allocation', 'devices', 'results').index(index).child('adminAccess');
}

async function adminErrors(path: Path, { namespace }: AdmissionAttributes, deps: PluginDeps): Promise<readonly FieldError[]> {
  const namespaceObject = await readObject(deps, { group: '', resource: 'namespaces' }, { namespace: '', name: namespace });
  if (namespaceObject?.metadata.labels?.[ADMIN_LABEL] === 'true') return [];
  const detail = `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`;
  return [FieldError.forbidden(path, detail)];
}

async function statusErrors(attributes: AdmissionAttributes, authorizer: Authorizer): Promise<readonly FieldError[]> {
  if (attributes.resource.resource !== 'resourceclaims') return [];
  const { user, object, oldObject, options } = attributes;
  const verb = (options as { kind?: string } | undefined)?.kind === 'PatchOptions' ? 'patch' : 'update';
  const requirements = claimStatusRequirements(object as resource.ResourceClaim, oldObject as resource.ResourceClaim, { user, verb });
  const unmet = await Promise.all(requirements.map((requirement) => requirementError(requirement, attributes, authorizer)));
  return unmet.filter((error) => error !== undefined);
}

/** The error for the first permission, if none is granted. */
async function requirementError(
  { anyOf, deniedError }: ClaimRequirement,
  attributes: AdmissionAttributes,
  authorizer: Authorizer,
): Promise<FieldError | undefined> {
  let first: string | undefined;
  for (const permission of anyOf) {
    const request = attributesFor(permission, attributes);
    const { verdict, reason, error } = await authorizer.authorize(request);
    if (verdict === 'allow') return undefined;
    first ??= forbiddenError(request, error === undefined ? reason : reason === '' ? error : `${error}: ${reason}`).message;
  }
  return deniedError(first ?? '');
}

function attributesFor(permission: ClaimPermission, { user, resource: served }: AdmissionAttributes): AuthorizationAttributes {
  const { group, version, resource: name } = served;
  return { ...permission, user, isResource: true, path: '', group, version, resource: name };
}
