import type { rbac } from '#api';
import { compareBytes, goQuote, type JsonValue, StatusError, semanticEqual } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission/admission.ts';
import { PRIVILEGED_GROUP, type UserInfo } from '../../authn/user.ts';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { Authorizer } from '../authorizer.ts';
import { compactRules, quotedList, ruleText, uncovered } from './covers.ts';
import type { PolicyRule } from './policy-rule.ts';
import { RBAC_GROUP, type RbacAuthorizer } from './rbac-authorizer.ts';

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

const CHECKS: Readonly<Record<string, (change: Change) => Promise<void>>> = {
  roles: checkRole,
  clusterroles: checkRole,
  rolebindings: checkBinding,
  clusterrolebindings: checkBinding,
};

interface Change {
  readonly attributes: AdmissionAttributes;
  readonly authorizer: Authorizer;
  readonly rules: RbacAuthorizer;
}

/**
 * Keeps users from giving away, to others or to themselves, more than they may do: who writes a role must hold all it grants, or have the
 * right to escalate; who binds a role must hold all it grants, or have the right to bind it.
 */
export function rbacEscalation(rules: RbacAuthorizer, authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    operations: ['CREATE', 'UPDATE'],
    // In `admit`, for upstream refuses before it validates the object: who may not grant learns nothing of what else is wrong.
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
  const asked = { user, verb: 'escalate', resource: resource.resource, namespace, name: operation === 'CREATE' ? '' : name };
  if (await isAllowed(authorizer, asked)) return;
  const role = attributes.object as unknown as rbac.ClusterRole;
  const missing = await missingText(rules, attributes, role.rules ?? []);
  if (missing !== undefined) throw refuse(attributes, missing);
  if (!hasAggregation(attributes.object) && !hasAggregation(attributes.oldObject)) return;
  if ((await missingText(rules, attributes, FULL_AUTHORITY)) !== undefined) {
    throw refuse(attributes, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

async function checkBinding({ attributes, authorizer, rules }: Change): Promise<void> {
  const { user, namespace } = attributes;
  const { roleRef } = attributes.object as unknown as rbac.RoleBinding;
  const resource = { Role: 'roles', ClusterRole: 'clusterroles' }[roleRef.kind];
  const asked = { user, verb: 'bind', namespace, name: roleRef.name ?? '', group: roleRef.apiGroup ?? '' };
  if (resource !== undefined && (await isAllowed(authorizer, { ...asked, resource }))) return;
  const granted = await rules.referencedRules(roleRef, namespace);
  const missing = await missingText(rules, attributes, granted);
  if (missing !== undefined) throw refuse(attributes, missing);
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

/** The words for what the user does not hold of the rules; undefined when they hold it all. */
async function missingText(rbacRules: RbacAuthorizer, { user, namespace }: AdmissionAttributes, wanted: readonly PolicyRule[]) {
  const { rules, errors } = await rbacRules.userRules(user, namespace);
  const missing = uncovered(rules, wanted);
  if (missing.length === 0) return undefined;
  const lines = [...new Set(compactRules(missing).map(ruleText))].sort(compareBytes);
  const who = `user ${goQuote(user.name)} (groups=${quotedList(user.groups)})`;
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;
  return errors.length === 0 ? text : `${text}; resolution errors: [${errors.join(' ')}]`;
}

function refuse({ resource, object }: AdmissionAttributes, why: string): StatusError {
  return StatusError.forbidden({ group: RBAC_GROUP, resource: resource.resource }, (object as KubeObject).metadata.name, why);
}

function hasAggregation(object: unknown): boolean {
  const { aggregationRule } = (object ?? {}) as Partial<rbac.ClusterRole>;
  return (aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

/** Whether an update touches only what garbage collection needs: owners and finalizers are free to change. */
function isOnlyForCollection({ object, oldObject }: AdmissionAttributes): boolean {
  if (oldObject === undefined) return false;
  return semanticEqual(withoutCollectionFields(object as KubeObject), withoutCollectionFields(oldObject as KubeObject));
}

function withoutCollectionFields(object: KubeObject): JsonValue {
  const { ownerReferences: _o, finalizers: _f, managedFields: _m, selfLink: _s, ...metadata } = object.metadata;
  return { ...object, metadata } as unknown as JsonValue;
}
