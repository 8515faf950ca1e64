import type { admissionregistration } from '#api';
import type { AdmissionAttributes } from '../admission.ts';
import type { MatchContext } from '../matching/match-context.ts';
import { RequestMatcher } from '../matching/request-matcher.ts';

type MatchResources = admissionregistration.MatchResources;
type ParamRef = admissionregistration.ParamRef;

/** The common part of both kinds of bindings. */
export interface PolicyBinding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  /** Absent: every request that the policy matches. */
  readonly matcher: RequestMatcher | undefined;
}

export interface BindingObject {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly policyName?: string; readonly paramRef?: ParamRef; readonly matchResources?: MatchResources };
}

export function policyBinding({ metadata, spec }: BindingObject, context: MatchContext): PolicyBinding {
  const { policyName = '', paramRef, matchResources } = spec ?? {};
  const matcher = matchResources && policyMatcher(matchResources, context);
  return { name: metadata.name, policyName, paramRef, matcher };
}

export function policyMatcher(resources: MatchResources, context: MatchContext): RequestMatcher {
  const { resourceRules = [], excludeResourceRules = [], namespaceSelector, objectSelector, matchPolicy } = resources;
  const selectors = { namespaceSelector, objectSelector };
  return new RequestMatcher({ ...selectors, resourceRules, excludeResourceRules, matchPolicy, matchesWithoutRules: true }, context);
}

export async function bindingMatches({ matcher }: PolicyBinding, attributes: AdmissionAttributes): Promise<boolean> {
  return matcher === undefined || (await matcher.match(attributes)) !== undefined;
}
