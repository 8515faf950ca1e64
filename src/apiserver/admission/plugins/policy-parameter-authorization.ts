import type { admissionregistration } from '#api';
import { deepEqual, FieldError, goValue, type JsonValue, Path, parseGroupVersion, StatusError } from '#machinery';
import { PRIVILEGED_GROUP, type UserInfo } from '../../authn/user.ts';
import type { AuthorizationAttributes, Authorizer } from '../../authz/authorizer.ts';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, readObject } from './plugin-deps.ts';

const GROUP = 'admissionregistration.k8s.io';
/** The policies that bindings of each sort are about. */
const POLICIES_OF: Readonly<Record<string, string>> = {
  validatingadmissionpolicybindings: 'validatingadmissionpolicies',
  mutatingadmissionpolicybindings: 'mutatingadmissionpolicies',
};
const POLICIES: readonly string[] = Object.values(POLICIES_OF);

type Deps = PluginDeps & { readonly authorizer: Authorizer };
type ParamKind = admissionregistration.ParamKind;
type Binding = admissionregistration.ValidatingAdmissionPolicyBinding;

/**
 * Who writes a policy, or binds it, has the server read parameters for them and tell what is in them: so they must be allowed to read these
 * themselves. Upstream asks this as part of validation, so that refusals are told as errors of fields.
 */
export function policyParameterAuthorization(deps: Deps): AdmissionPlugin {
  return {
    name: 'PolicyParameterAuthorization',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const { resource, user, subresource } = attributes;
      // Most writes are about something else: they are not to wait for a promise.
      if (resource.group !== GROUP || subresource !== '' || user.groups.includes(PRIVILEGED_GROUP)) return;
      return demandRead(attributes, deps);
    },
  };
}

async function demandRead(attributes: AdmissionAttributes, deps: Deps): Promise<void> {
  const error = await refusalOf(attributes, deps);
  if (error === undefined) return;
  const { resource, object } = attributes;
  throw StatusError.invalid({ group: GROUP, kind: resource.kind }, (object as KubeObject).metadata.name ?? '', [error]);
}

async function refusalOf(attributes: AdmissionAttributes, deps: Deps): Promise<FieldError | undefined> {
  const { resource } = attributes.resource;
  if (POLICIES.includes(resource)) return policyRefusal(attributes, deps);
  const policies = POLICIES_OF[resource];
  return policies === undefined ? undefined : bindingRefusal(attributes, deps, policies);
}

function paramKindOf(policy: unknown): ParamKind | undefined {
  return (policy as admissionregistration.ValidatingAdmissionPolicy | undefined)?.spec?.paramKind;
}

/** A policy may be bound to any object of its kind of parameters. */
async function policyRefusal({ user, object, oldObject }: AdmissionAttributes, deps: Deps): Promise<FieldError | undefined> {
  const paramKind = paramKindOf(object);
  if (!paramKind || deepEqual(paramKind as JsonValue, paramKindOf(oldObject) as JsonValue | undefined)) return undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const target = paramTarget(paramKind, deps);
  if (await isAllowed(deps.authorizer, { user, verb: 'get', namespace: '*', name: '*', ...target })) return undefined;
  const needs = `must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  return FieldError.forbidden(Path.of('spec', 'paramKind'), `user ${userText(user)} ${needs}`);
}

/** A binding names the parameters; the policy, which may not be there yet, tells what they are. */
async function bindingRefusal({ user, object }: AdmissionAttributes, deps: Deps, policies: string): Promise<FieldError | undefined> {
  const { paramRef, policyName = '' } = (object as Binding).spec ?? {};
  if (!paramRef) return undefined;
  const policy = await readObject(deps, { group: GROUP, resource: policies }, { namespace: '', name: policyName });
  const paramKind = paramKindOf(policy);
  const target = paramKind ? paramTarget(paramKind, deps) : ANYTHING;
  const verb = paramRef.name ? 'get' : 'list';
  const asked = { user, verb, namespace: paramRef.namespace ?? '', name: paramRef.name ?? '', ...target };
  if (await isAllowed(deps.authorizer, asked)) return undefined;
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
  const unknown = (what: string) =>
    `unable to ${what} to determine minimum required permissions and ${lacks} for all groups, versions and resources`;
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

/** What has to be readable: as little as is known to be meant. */
function paramTarget({ apiVersion = '', kind = '' }: ParamKind, { table }: Deps): Target {
  try {
    const { group, version } = parseGroupVersion(apiVersion);
    return { group, version, resource: table.findKind(group, version, kind)?.resource ?? '*' };
  } catch {
    return ANYTHING;
  }
}

type Question = Pick<AuthorizationAttributes, 'user' | 'verb' | 'namespace' | 'name' | 'group' | 'version' | 'resource'>;

async function isAllowed(authorizer: Authorizer, question: Question): Promise<boolean> {
  const { verdict } = await authorizer.authorize({ ...question, isResource: true, path: '', subresource: '' });
  return verdict === 'allow';
}

/** A user as upstream prints one. */
function userText({ name, uid = '', groups, extra = {} }: UserInfo): string {
  return `&{${name} ${uid} ${goValue([...groups])} ${goValue(extra as never)}}`;
}
