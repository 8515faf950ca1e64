import type { FieldRequirement } from '#machinery';
import type { UserInfo } from '../request/user.ts';

export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResource: boolean;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Requirements of the field selector of a list, watch or deletecollection. */
  readonly fieldRequirements?: readonly FieldRequirement[];
}

/** `no opinion` leaves the decision to the next authorizer. Without any `allow` the request is denied. */
export type Decision = { readonly verdict: 'allow' | 'deny' | 'no opinion'; readonly reason: string; readonly error?: string };

export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision>;
  /** The rules that apply to a user in a namespace, for SelfSubjectRulesReview. */
  rulesFor(user: UserInfo, namespace: string): Promise<ResolvedRules> | ResolvedRules;
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface ResolvedRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}
