import type { flowcontrol } from '#api';
import { parseServiceAccountUsername } from '../authn/service-accounts/username.ts';
import type { RequestInfo } from '../request/request-info.ts';
import type { UserInfo } from '../request/user.ts';

export interface FlowSchema<Level> {
  readonly name: string;
  readonly uid: string;
  readonly level: Level;
  readonly spec: flowcontrol.FlowSchemaSpec;
}

interface Candidate<S> {
  readonly schema: S;
  /** Rules whose subjects match the user. */
  readonly rules: readonly flowcontrol.PolicyRulesWithSubjects[];
}

/** Finds the matching flow schema with the highest precedence. */
export class FlowSchemas<S extends FlowSchema<unknown>> {
  readonly #ordered: readonly S[];
  /** Cached by user object, which requests of one credential share. */
  readonly #candidates = new WeakMap<UserInfo, readonly Candidate<S>[]>();

  /** The last schema is the catch-all and must exist. */
  constructor(schemas: readonly S[]) {
    this.#ordered = schemas.toSorted(byPrecedence);
  }

  get ordered(): readonly S[] {
    return this.#ordered;
  }

  find(user: UserInfo, info: RequestInfo): S {
    let candidates = this.#candidates.get(user);
    if (candidates === undefined) {
      candidates = this.#candidatesFor(user);
      this.#candidates.set(user, candidates);
    }
    for (const { schema, rules } of candidates) for (const rule of rules) if (matchesRequest(rule, info)) return schema;
    return this.#ordered.at(-1)!;
  }

  #candidatesFor(user: UserInfo): readonly Candidate<S>[] {
    const all = this.#ordered.map((schema) => ({
      schema,
      rules: (schema.spec.rules ?? []).filter(({ subjects }) => (subjects ?? []).some((subject) => matchesSubject(subject, user))),
    }));
    return all.filter(({ rules }) => rules.length > 0);
  }
}

function byPrecedence(a: FlowSchema<unknown>, b: FlowSchema<unknown>): number {
  const difference = (a.spec.matchingPrecedence ?? 0) - (b.spec.matchingPrecedence ?? 0);
  return difference || (a.name < b.name ? -1 : 1);
}

function matchesSubject({ kind, user: userSubject, group, serviceAccount }: flowcontrol.Subject, user: UserInfo): boolean {
  switch (kind) {
    case 'User':
      return userSubject !== undefined && (userSubject.name === '*' || userSubject.name === user.name);
    case 'Group':
      return group !== undefined && (group.name === '*' || user.groups.includes(group.name));
    case 'ServiceAccount': {
      const account = parseServiceAccountUsername(user.name);
      if (serviceAccount === undefined || account?.namespace !== serviceAccount.namespace) return false;
      return serviceAccount.name === '*' || serviceAccount.name === account.name;
    }
    default:
      return false;
  }
}

function matchesRequest({ resourceRules, nonResourceRules }: flowcontrol.PolicyRulesWithSubjects, info: RequestInfo): boolean {
  if (info.isResource) return resourceRules?.some((rule) => matchesResource(rule, info)) ?? false;
  return nonResourceRules?.some((rule) => matchesPath(rule, info)) ?? false;
}

function matchesResource(rule: flowcontrol.ResourcePolicyRule, info: RequestInfo): boolean {
  if (!includes(rule.verbs, info.verb) || !includes(rule.apiGroups, info.group)) return false;
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  if (!includes(rule.resources, resource)) return false;
  return info.namespace === '' ? rule.clusterScope === true : includes(rule.namespaces, info.namespace);
}

function matchesPath({ verbs, nonResourceURLs }: flowcontrol.NonResourcePolicyRule, { verb, path }: RequestInfo): boolean {
  return includes(verbs, verb) && (nonResourceURLs ?? []).some((pattern) => matchesPattern(pattern, path));
}

function matchesPattern(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true;
  const prefix = pattern.endsWith('*') ? pattern.slice(0, -1) : pattern;
  return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  if (list === undefined) return false;
  return (list.length === 1 && list[0] === '*') || list.includes(value);
}
