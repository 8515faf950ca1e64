import { PRIVILEGED_GROUP } from '../request/user.ts';
import type { Authorizer, Decision, ResolvedRules } from './authorizer.ts';

const ALLOW: Decision = { verdict: 'allow', reason: '' };
const NO_OPINION: Decision = { verdict: 'no opinion', reason: '' };
const NO_RULES: ResolvedRules = { resourceRules: [], nonResourceRules: [], incomplete: false };

/** Members of system:masters are allowed everything. */
export const privilegedGroups: Authorizer = {
  authorize: ({ user }) => (user.groups.includes(PRIVILEGED_GROUP) ? ALLOW : NO_OPINION),
  rulesFor: () => NO_RULES,
};

const EVERYTHING: ResolvedRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

/** The mode `AlwaysAllow`. */
export const alwaysAllow: Authorizer = { authorize: () => ALLOW, rulesFor: () => EVERYTHING };

/** The mode `AlwaysDeny`. */
export const alwaysDeny: Authorizer = {
  authorize: () => ({ verdict: 'no opinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => NO_RULES,
};
