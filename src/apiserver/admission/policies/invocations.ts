import type { admissionregistration } from '#api';
import { pushAll } from '#base';
import { StatusError } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { admissionNamespace } from '../matching/admission-kind.ts';
import type { RequestMatch, RequestMatcher } from '../matching/request-matcher.ts';
import { ConfigurationError, collectParams, paramResource } from './params.ts';
import { bindingMatches, type PolicyBinding } from './policy-binding.ts';
import type { PolicyContext } from './policy-context.ts';
import type { PolicyHook } from './policy-source.ts';

/** The common part of compiled validating and mutating policies. */
export interface CompiledPolicy {
  readonly name: string;
  readonly failurePolicy: string;
  readonly matcher: RequestMatcher;
  readonly paramKind: admissionregistration.ParamKind | undefined;
}

/** A policy that applies to the request, by one binding. */
export interface Invocation<Policy, Binding> {
  readonly policy: Policy;
  readonly binding: Binding;
  readonly match: RequestMatch;
  /** The policy is evaluated once per parameter, and not at all if the list is empty. */
  readonly params: readonly (KubeObject | null)[];
  readonly problem?: undefined;
}

/** A policy, or a binding, that cannot be used for the request. */
export interface Misconfiguration<Policy, Binding> {
  readonly policy: Policy;
  readonly binding: Binding | undefined;
  readonly problem: string;
}

export type SelectedPolicy<Policy, Binding> = Invocation<Policy, Binding> | Misconfiguration<Policy, Binding>;

/** Which policies apply to a request, in the order in which they are evaluated. */
export async function selectInvocations<Policy extends CompiledPolicy, Binding extends PolicyBinding>(
  hooks: readonly PolicyHook<Policy, Binding>[],
  attributes: AdmissionAttributes,
  context: PolicyContext,
): Promise<readonly SelectedPolicy<Policy, Binding>[]> {
  const selected: SelectedPolicy<Policy, Binding>[] = [];
  for (const hook of hooks) pushAll(selected, await selectHook(hook, attributes, context));
  return selected;
}

async function selectHook<Policy extends CompiledPolicy, Binding extends PolicyBinding>(
  { policy, bindings }: PolicyHook<Policy, Binding>,
  attributes: AdmissionAttributes,
  context: PolicyContext,
): Promise<readonly SelectedPolicy<Policy, Binding>[]> {
  try {
    const match = await policy.matcher.match(attributes);
    if (match === undefined) return [];
    const resource = policy.paramKind && paramResource(context.table, policy.paramKind);
    const perBinding = bindings.map(async (binding): Promise<readonly SelectedPolicy<Policy, Binding>[]> => {
      try {
        if (!(await bindingMatches(binding, attributes))) return [];
        return [{ policy, binding, match, params: await collectParams(resource, binding.paramRef, admissionNamespace(attributes)) }];
      } catch (error) {
        return [{ policy, binding, problem: `failed to configure binding: ${problemText(error)}` }];
      }
    });
    return (await Promise.all(perBinding)).flat();
  } catch (error) {
    return [{ policy, binding: undefined, problem: `failed to configure policy: ${problemText(error)}` }];
  }
}

function problemText(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof StatusError) return error.message;
  throw error;
}
