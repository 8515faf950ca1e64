import type { RequestInfo } from '../request/request-info.ts';
import type { UserInfo } from '../request/user.ts';
import type { Level, Stage } from './audit-event.ts';
import type { AuditPolicy, AuditRule, GroupResources } from './audit-policy.ts';

/** The policy's decision for one request. */
export interface RequestAuditConfig {
  readonly level: Level;
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

/** The attributes of a request. The user is absent if authentication failed. */
export interface AuditedRequest {
  readonly user?: UserInfo | undefined;
  readonly info: RequestInfo;
}

/** Finds the matching rule of each request. */
export class PolicyEvaluator {
  readonly #rules: readonly { readonly rule: AuditRule; readonly config: RequestAuditConfig }[];
  readonly #otherwise: RequestAuditConfig;

  constructor(policy: AuditPolicy) {
    const { omitManagedFields } = policy;
    this.#rules = policy.rules.map((rule) => ({
      rule,
      config: {
        level: rule.level,
        omitStages: new Set([...policy.omitStages, ...rule.omitStages]),
        omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
      },
    }));
    this.#otherwise = { level: 'None', omitStages: new Set(policy.omitStages), omitManagedFields };
  }

  evaluate(request: AuditedRequest): RequestAuditConfig {
    for (const { rule, config } of this.#rules) if (matches(rule, request)) return config;
    return this.#otherwise;
  }
}

function matches(rule: AuditRule, { user, info }: AuditedRequest): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule;
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  if (userGroups.length > 0 && !user?.groups.some((group) => userGroups.includes(group))) return false;
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return matchesResource(rule, info);
  return nonResourceURLs.length === 0 || (!info.isResource && nonResourceURLs.some((spec) => matchesPath(info.path, spec)));
}

function matchesPath(path: string, spec: string): boolean {
  return spec === '*' || spec === path || (spec.endsWith('*') && path.startsWith(spec.slice(0, -1)));
}

/** Cluster-scoped objects match the empty namespace. */
function matchesResource({ namespaces, resources }: AuditRule, info: RequestInfo): boolean {
  if (!info.isResource || (namespaces.length > 0 && !namespaces.includes(info.namespace))) return false;
  return resources.length === 0 || resources.some((entry) => matchesGroup(entry, info));
}

function matchesGroup({ group, resources, resourceNames }: GroupResources, info: RequestInfo): boolean {
  if (group !== '*' && group !== info.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  return resources.some((spec) => matchesName(spec, info));
}

/** `pods`, `pods/log`, `*`, `*` with a subresource, or a resource with all its subresources. */
function matchesName(spec: string, { resource, subresource }: RequestInfo): boolean {
  if (spec === '*' || spec === (subresource === '' ? resource : `${resource}/${subresource}`)) return true;
  if (subresource !== '' && spec === `*/${subresource}`) return true;
  return spec === `${resource}/*`;
}
