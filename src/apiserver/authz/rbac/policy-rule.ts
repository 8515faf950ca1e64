import type { rbac } from '#api';
import { withoutTrailing } from '#base';
import type { AuthorizationAttributes } from '../authorizer.ts';

export type PolicyRule = rbac.PolicyRule;

const ALL = '*';

/** The attributes that a rule is matched against. */
export type RuleRequest = Omit<AuthorizationAttributes, 'user'>;

/** Whether a rule allows a request. */
export function ruleAllows(rule: PolicyRule, request: RuleRequest): boolean {
  if (!has(rule.verbs, request.verb)) return false;
  if (!request.isResource) return matchesUrl(rule.nonResourceURLs, request.path);
  return has(rule.apiGroups, request.group) && matchesResource(rule.resources, request) && matchesName(rule.resourceNames, request.name);
}

function has(values: readonly string[] | undefined, value: string): boolean {
  return values !== undefined && (values.includes(value) || values.includes(ALL));
}

/** `*` matches everything, `*` with a subresource matches that subresource of every resource; `pods/*` matches nothing. */
function matchesResource(resources: readonly string[] | undefined, { resource, subresource }: RuleRequest): boolean {
  if (subresource === '') return has(resources, resource);
  return has(resources, `${resource}/${subresource}`) || (resources?.includes(`*/${subresource}`) ?? false);
}

function matchesName(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.length === 0 || names.includes(name);
}

function matchesUrl(urls: readonly string[] | undefined, path: string): boolean {
  return urls?.some((url) => urlCovers(url, path)) ?? false;
}

/** Whether one entry of nonResourceURLs covers a path, or another entry. */
export function urlCovers(url: string, path: string): boolean {
  return url === path || (url.endsWith(ALL) && path.startsWith(withoutTrailing(url, ALL)));
}
