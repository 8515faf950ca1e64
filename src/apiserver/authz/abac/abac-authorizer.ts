import type { UserInfo } from '../../request/user.ts';
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts';
import type { AbacPolicy } from './abac-policy.ts';

const READ_VERBS = ['get', 'list', 'watch'];
const READ_ONLY_VERBS: ReadonlySet<string> = new Set(READ_VERBS);
const ALLOW: Decision = { verdict: 'allow', reason: '' };
const NO_POLICY: Decision = { verdict: 'no opinion', reason: 'No policy matched.' };

/** The mode `ABAC`: allows what any line of the policy file allows. */
export function abacAuthorizer(policies: readonly AbacPolicy[]): Authorizer {
  return {
    authorize: (attributes) => (policies.some((policy) => matches(policy, attributes)) ? ALLOW : NO_POLICY),
    rulesFor: (user, namespace) =>
      rulesOf(
        policies.filter((policy) => matchesSubject(policy, user)),
        namespace,
      ),
  };
}

function matches(policy: AbacPolicy, attributes: AuthorizationAttributes): boolean {
  if (!matchesSubject(policy, attributes.user)) return false;
  if (policy.readonly && !READ_ONLY_VERBS.has(attributes.verb)) return false;
  if (!attributes.isResource) return matchesPath(policy.nonResourcePath, attributes.path);
  const { namespace, resource, apiGroup } = policy;
  return isOrAny(namespace, attributes.namespace) && isOrAny(resource, attributes.resource) && isOrAny(apiGroup, attributes.group);
}

function isOrAny(pattern: string, value: string): boolean {
  return pattern === '*' || pattern === value;
}

/** A policy without user and group matches no one. */
function matchesSubject({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false;
  return (user === '' || user === name) && (group === '' || groups.includes(group));
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}

function rulesOf(policies: readonly AbacPolicy[], namespace: string): ResolvedRules {
  const verbsOf = ({ readonly }: AbacPolicy) => (readonly ? READ_VERBS : ['*']);
  return {
    resourceRules: policies
      .filter((policy) => policy.resource !== '' && isOrAny(policy.namespace, namespace))
      .map((policy) => ({ verbs: verbsOf(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] })),
    nonResourceRules: policies
      .filter(({ nonResourcePath }) => nonResourcePath !== '')
      .map((policy) => ({ verbs: verbsOf(policy), nonResourceURLs: [policy.nonResourcePath] })),
    incomplete: false,
  };
}
