import type { resource } from '#api';
import { FieldError, Path, StatusError } from '#machinery';
import type { AuthorizationAttributes, Authorizer } from '../../authz/authorizer.ts';
import { forbidden } from '../../filters/chain.ts';
import { type ClaimPermission, type ClaimRequirement, claimStatusRequirements } from '../../registry/resource/claim-authorization.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, readObject } from './plugin-deps.ts';

const GROUP = 'resource.k8s.io';
const ADMIN_LABEL = 'resource.kubernetes.io/admin-access';

/**
 * Devices are handed out and reported on only by who may, and administrators' access to them only where a namespace allows it. Upstream asks this
 * as part of validation, so that refusals are told as errors of fields.
 */
export function resourceClaimAuthorization(deps: PluginDeps & { readonly authorizer: Authorizer }): AdmissionPlugin {
  return {
    name: 'ResourceClaimAuthorization',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => (attributes.resource.group === GROUP ? demandRights(attributes, deps) : undefined),
  };
}

async function demandRights(attributes: AdmissionAttributes, deps: PluginDeps & { readonly authorizer: Authorizer }): Promise<void> {
  const errors = await refusals(attributes, deps);
  if (errors.length === 0) return;
  const { group, kind } = attributes.resource;
  throw StatusError.invalid({ group, kind }, (attributes.object as resource.ResourceClaim).metadata.name ?? '', errors);
}

async function refusals(
  attributes: AdmissionAttributes,
  deps: PluginDeps & { readonly authorizer: Authorizer },
): Promise<readonly FieldError[]> {
  const { operation, subresource, object, oldObject } = attributes;
  const path = subresource === 'status' ? grantedPath(object, oldObject) : operation === 'CREATE' ? wantedPath(attributes) : undefined;
  const admin = path === undefined ? [] : await adminRefusal(path, attributes, deps);
  return subresource === 'status' ? [...admin, ...(await statusRefusals(attributes, deps.authorizer))] : admin;
}

/** The first request of administrators' access. Specifications do not change, so that only creation is looked at. */
function wantedPath({ resource: { resource: name }, object }: AdmissionAttributes): Path | undefined {
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

async function adminRefusal(path: Path, { namespace }: AdmissionAttributes, deps: PluginDeps): Promise<readonly FieldError[]> {
  const found = await readObject(deps, { group: '', resource: 'namespaces' }, { namespace: '', name: namespace });
  if (found?.metadata.labels?.[ADMIN_LABEL] === 'true') return [];
  const why = `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`;
  return [FieldError.forbidden(path, why)];
}

async function statusRefusals(attributes: AdmissionAttributes, authorizer: Authorizer): Promise<readonly FieldError[]> {
  if (attributes.resource.resource !== 'resourceclaims') return [];
  const { user, object, oldObject, options } = attributes;
  const verb = (options as { kind?: string } | undefined)?.kind === 'PatchOptions' ? 'patch' : 'update';
  const needs = claimStatusRequirements(object as resource.ResourceClaim, oldObject as resource.ResourceClaim, { user, verb });
  const refused = await Promise.all(needs.map((need) => refusalOf(need, attributes, authorizer)));
  return refused.filter((error) => error !== undefined);
}

/** The refusal of the first permission, when nobody grants any of them. */
async function refusalOf(
  { anyOf, refusal }: ClaimRequirement,
  attributes: AdmissionAttributes,
  authorizer: Authorizer,
): Promise<FieldError | undefined> {
  let first: string | undefined;
  for (const permission of anyOf) {
    const asked = attributesFor(permission, attributes);
    const { verdict, reason, error } = await authorizer.authorize(asked);
    if (verdict === 'allow') return undefined;
    first ??= forbidden(asked, error === undefined ? reason : reason === '' ? error : `${error}: ${reason}`).message;
  }
  return refusal(first ?? '');
}

function attributesFor(permission: ClaimPermission, { user, resource: served }: AdmissionAttributes): AuthorizationAttributes {
  const { group, version, resource: name } = served;
  return { ...permission, user, isResource: true, path: '', group, version, resource: name };
}
