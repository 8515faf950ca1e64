import type { admissionregistration } from '#api';
import { lookupTable } from '#base';
import { deepEqual, FieldError, goValue, type JsonValue, Path, parseGroupVersion, StatusError } from '#machinery';
import type { AuthorizationAttributes, Authorizer } from '../../authz/authorizer.ts';
import { PRIVILEGED_GROUP, type UserInfo } from '../../request/user.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, readObject } from './plugin-deps.ts';

const GROUP = 'admissionregistration.k8s.io';
/** The policy resource of each binding resource. */
const POLICIES_OF = lookupTable<string>({
  validatingadmissionpolicybindings: 'validatingadmissionpolicies',
  mutatingadmissionpolicybindings: 'mutatingadmissionpolicies',
});
const POLICIES: readonly string[] = Object.values(POLICIES_OF);

type Deps = PluginDeps & { readonly authorizer: Authorizer };
type ParamKind = admissionregistration.ParamKind;
type Binding = admissionregistration.ValidatingAdmissionPolicyBinding;

/**
 * The server reads a policy's parameters on behalf of the author, and messages may reveal them: authors of policies and bindings need `get`
 * on the parameters. Upstream checks this during validation, so violations are field errors.
 */
export function policyParameterAuthorization(deps: Deps): AdmissionPlugin {
  return {
    name: 'PolicyParameterAuthorization',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const { resource, user, subresource } = attributes;
      // Synchronous for unrelated writes, which are most.
      if (resource.group !== GROUP || subresource !== '' || user.groups.includes(PRIVILEGED_GROUP)) return;
      return demandRead(attributes, deps);
    },
  };
}

async function demandRead(attributes: AdmissionAttributes, deps: Deps): Promise<void> {
  const error = await permissionError(attributes, deps);
  if (error === undefined) return;
  const { resource, object } = attributes;
  throw StatusError.invalid({ group: GROUP, kind: resource.kind }, (object as KubeObject).metadata.name ?? '', [error]);
}

async function permissionError(attributes: AdmissionAttributes, deps: Deps): Promise<FieldError | undefined> {
  const { resource } = attributes.resource;
  if (POLICIES.includes(resource)) return policyError(attributes, deps);
  const policies = POLICIES_OF[resource];
  return policies === undefined ? undefined : bindingError(attributes, deps, policies);
}

function paramKindOf(policy: unknown): ParamKind | undefined {
  return (policy as admissionregistration.ValidatingAdmissionPolicy | undefined)?.spec?.paramKind;
}

/** A policy can be bound to any object of its parameter kind. */
async function policyError({ user, object, oldObject }: AdmissionAttributes, deps: Deps): Promise<FieldError | undefined> {
  const paramKind = paramKindOf(object);
  if (!paramKind || deepEqual(paramKind as JsonValue, paramKindOf(oldObject) as JsonValue | undefined)) return undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const target = paramTarget(paramKind, deps);
  if (await isAllowed(deps.authorizer, { user, verb: 'get', namespace: '*', name: '*', ...target })) return undefined;
  const requirement = `must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  return FieldError.forbidden(Path.of('spec', 'paramKind'), `user ${userText(user)} ${requirement}`);
}

/** The binding names the parameter objects; their kind is in the policy, which may not exist yet. */
async function bindingError({ user, object }: AdmissionAttributes, deps: Deps, policies: string): Promise<FieldError | undefined> {
  const { paramRef, policyName = '' } = (object as Binding).spec ?? {};
  if (!paramRef) return undefined;
  const policy = await readObject(deps, { group: GROUP, resource: policies }, { namespace: '', name: policyName });
  const paramKind = paramKindOf(policy);
  const target = paramKind ? paramTarget(paramKind, deps) : ANYTHING;
  const verb = paramRef.name ? 'get' : 'list';
  const request = { user, verb, namespace: paramRef.namespace ?? '', name: paramRef.name ?? '', ...target };
  if (await isAllowed(deps.authorizer, request)) return undefined;
  const lacks = `user ${userText(user)} does not have "${verb}" permission`;
  return FieldError.forbidden(Path.of('spec', 'paramRef'), bindingReason({ lacks, policyName, policy, paramKind, target }));
}

interface Unreadable {
  readonly lacks: string;
  readonly policyName: string;
  readonly policy: KubeObject | undefined;
  readonly paramKind: ParamKind | undefined;
  readonly target: Target;
}

function bindingReason({ lacks, policyName, policy, paramKind, target }: Unreadable): string {
  const unknown = (noun: string) =>
    `unable to ${noun} to determine minimum required permissions and ${lacks} for all groups, versions and resources`;
  if (!policy) return unknown(`get policy ${policyName}`);
  const printed = `&{${paramKind?.apiVersion ?? ''} ${paramKind?.kind ?? ''}}`;
  if (paramKind && target.resource === '*') return unknown(`${target.group === '*' ? 'parse' : 'resolve'} paramKind ${printed}`);
  return `${lacks} on the object referenced by paramRef`;
}

interface Target {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

const ANYTHING: Target = { group: '*', version: '*', resource: '*' };

/** The permission to check: the named object, or the narrowest scope that is known. */
function paramTarget({ apiVersion = '', kind = '' }: ParamKind, { table }: Deps): Target {
  try {
    const { group, version } = parseGroupVersion(apiVersion);
    return { group, version, resource: table.findKind(group, version, kind)?.resource ?? '*' };
  } catch {
    return ANYTHING;
  }
}

type AccessCheck = Pick<AuthorizationAttributes, 'user' | 'verb' | 'namespace' | 'name' | 'group' | 'version' | 'resource'>;

async function isAllowed(authorizer: Authorizer, check: AccessCheck): Promise<boolean> {
  const { verdict } = await authorizer.authorize({ ...check, isResource: true, path: '', subresource: '' });
  return verdict === 'allow';
}

/** A user as upstream prints one. */
function userText({ name, uid = '', groups, extra = {} }: UserInfo): string {
  return `&{${name} ${uid} ${goValue([...groups])} ${goValue(extra as never)}}`;
}
