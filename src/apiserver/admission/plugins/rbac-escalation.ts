import type { rbac } from '#api';
import { lookupTable } from '#base';
import { compareBytes, goQuote, type JsonValue, StatusError, semanticEqual } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { PolicyRule } from '../../authz/rbac/policy-rule.ts';
import { RBAC_GROUP, type RbacAuthorizer } from '../../authz/rbac/rbac-authorizer.ts';
import { compactRules, quotedList, ruleText, uncoveredRules } from '../../authz/rbac/uncovered-rules.ts';
import { PRIVILEGED_GROUP, type UserInfo } from '../../request/user.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

const CHECKS = lookupTable<(change: Change) => Promise<void>>({
  roles: checkRole,
  clusterroles: checkRole,
  rolebindings: checkBinding,
  clusterrolebindings: checkBinding,
});

interface Change {
  readonly attributes: AdmissionAttributes;
  readonly authorizer: Authorizer;
  readonly rules: RbacAuthorizer;
}

/**
 * Prevents privilege escalation: writing a role requires all permissions that it grants, or the verb `escalate`; binding a role requires
 * all permissions that it grants, or the verb `bind`.
 */
export function rbacEscalation(rules: RbacAuthorizer, authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    operations: ['CREATE', 'UPDATE'],
    // Runs in `admit`: upstream rejects with 403 before it validates the object.
    admit(attributes) {
      const { resource, user, subresource } = attributes;
      const check = resource.group === RBAC_GROUP && subresource === '' ? CHECKS[resource.resource] : undefined;
      if (check === undefined || user.groups.includes(PRIVILEGED_GROUP) || isOnlyForCollection(attributes)) return undefined;
      return check({ attributes, authorizer, rules });
    },
  };
}

async function checkRole({ attributes, authorizer, rules }: Change): Promise<void> {
  const { user, namespace, name, resource, operation } = attributes;
  const request = { user, verb: 'escalate', resource: resource.resource, namespace, name: operation === 'CREATE' ? '' : name };
  if (await isAllowed(authorizer, request)) return;
  const role = attributes.object as unknown as rbac.ClusterRole;
  const missing = await missingText(rules, attributes, role.rules ?? []);
  if (missing !== undefined) throw escalationError(attributes, missing);
  if (!hasAggregation(attributes.object) && !hasAggregation(attributes.oldObject)) return;
  if ((await missingText(rules, attributes, FULL_AUTHORITY)) !== undefined) {
    throw escalationError(attributes, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

async function checkBinding({ attributes, authorizer, rules }: Change): Promise<void> {
  const { user, namespace } = attributes;
  const { roleRef } = attributes.object as unknown as rbac.RoleBinding;
  const resource = { Role: 'roles', ClusterRole: 'clusterroles' }[roleRef.kind];
  const request = { user, verb: 'bind', namespace, name: roleRef.name ?? '', group: roleRef.apiGroup ?? '' };
  if (resource !== undefined && (await isAllowed(authorizer, { ...request, resource }))) return;
  const granted = await rules.referencedRules(roleRef, namespace);
  const missing = await missingText(rules, attributes, granted);
  if (missing !== undefined) throw escalationError(attributes, missing);
}

interface Right {
  readonly user: UserInfo;
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly group?: string;
}

async function isAllowed(authorizer: Authorizer, right: Right): Promise<boolean> {
  const attributes = { group: RBAC_GROUP, ...right, isResource: true, path: '', version: '*', subresource: '' };
  return (await authorizer.authorize(attributes)).verdict === 'allow';
}

/** The message that lists missing permissions; undefined if the user has all of them. */
async function missingText(rbacRules: RbacAuthorizer, { user, namespace }: AdmissionAttributes, required: readonly PolicyRule[]) {
  const { rules, errors } = await rbacRules.userRules(user, namespace);
  const missing = uncoveredRules(rules, required);
  if (missing.length === 0) return undefined;
  const lines = [...new Set(compactRules(missing).map(ruleText))].sort(compareBytes);
  const subject = `user ${goQuote(user.name)} (groups=${quotedList(user.groups)})`;
  const text = `${subject} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;
  return errors.length === 0 ? text : `${text}; resolution errors: [${errors.join(' ')}]`;
}

function escalationError({ resource, object }: AdmissionAttributes, detail: string): StatusError {
  return StatusError.forbidden({ group: RBAC_GROUP, resource: resource.resource }, (object as KubeObject).metadata.name, detail);
}

function hasAggregation(object: unknown): boolean {
  const { aggregationRule } = (object ?? {}) as Partial<rbac.ClusterRole>;
  return (aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

/** Whether an update changes only ownerReferences and finalizers, which garbage collection needs. */
function isOnlyForCollection({ object, oldObject }: AdmissionAttributes): boolean {
  if (oldObject === undefined) return false;
  return semanticEqual(withoutCollectionFields(object as KubeObject), withoutCollectionFields(oldObject as KubeObject));
}

function withoutCollectionFields(object: KubeObject): JsonValue {
  const { ownerReferences: _o, finalizers: _f, managedFields: _m, selfLink: _s, ...metadata } = object.metadata;
  return { ...object, metadata } as unknown as JsonValue;
}
