import type { rbac } from '#api';
import type { AuthorizationAttributes } from '../authorizer.ts';

export type PolicyRule = rbac.PolicyRule;

const ALL = '*';

/** What a rule is asked about. */
export type RuleRequest = Omit<AuthorizationAttributes, 'user'>;

/** Whether a rule, by itself, allows a request. */
export function ruleAllows(rule: PolicyRule, request: RuleRequest): boolean {
  if (!has(rule.verbs, request.verb)) return false;
  if (!request.isResource) return matchesUrl(rule.nonResourceURLs, request.path);
  return has(rule.apiGroups, request.group) && matchesResource(rule.resources, request) && matchesName(rule.resourceNames, request.name);
}

function has(values: readonly string[] | undefined, wanted: string): boolean {
  return values !== undefined && (values.includes(wanted) || values.includes(ALL));
}

/** `*` stands for everything, `*` + `/sub` for that subresource of everything; `pods/*` stands for nothing. */
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
  return url === path || (url.endsWith(ALL) && path.startsWith(url.replace(/\*+$/, '')));
}
