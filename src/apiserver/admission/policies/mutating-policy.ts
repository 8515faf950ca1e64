import type { admissionregistration } from '#api';
import { cel } from '#machinery';
import { evaluatedVariables } from '../expressions/admission-variables.ts';
import { activationOf, type ExpressionInput } from '../expressions/evaluation.ts';
import { type ConditionsMatch, compileConditions, evaluateConditions, type MatchConditions } from '../expressions/match-conditions.ts';
import type { MatchContext } from '../matching/match-context.ts';
import type { CompiledPolicy } from './invocations.ts';
import { compileMutation, type Mutation } from './mutation.ts';
import { policyMatcher } from './policy-binding.ts';

type PolicyObject = admissionregistration.MutatingAdmissionPolicy;

/** A MutatingAdmissionPolicy with its expressions compiled. */
export class MutatingPolicy implements CompiledPolicy {
  readonly name: string;
  readonly failurePolicy: string;
  readonly matcher: CompiledPolicy['matcher'];
  readonly paramKind: CompiledPolicy['paramKind'];
  readonly runsAgain: boolean;
  readonly mutations: readonly Mutation[];
  readonly #variables: cel.PolicyVariables;
  readonly #conditions: MatchConditions;

  constructor({ metadata, spec = {} }: PolicyObject, context: MatchContext) {
    this.name = metadata.name ?? '';
    this.failurePolicy = spec.failurePolicy ?? 'Fail';
    this.paramKind = spec.paramKind;
    this.runsAgain = spec.reinvocationPolicy === 'IfNeeded';
    this.matcher = policyMatcher(spec.matchConstraints ?? {}, context);
    const declarations = evaluatedVariables({ hasParams: spec.paramKind !== undefined, hasAuthorizer: true });
    this.#variables = new cel.PolicyVariables({ variables: declarations });
    for (const { name = '', expression = '' } of spec.variables ?? []) this.#variables.define(name, expression);
    this.#conditions = compileConditions(spec.matchConditions, this.#variables);
    const variables = { ...declarations, variables: this.#variables.type };
    this.mutations = (spec.mutations ?? []).map((mutation) => compileMutation(mutation, variables));
  }

  matches(input: ExpressionInput): ConditionsMatch {
    if (this.#conditions.length === 0) return { matches: true };
    const { resource } = input.request.attributes;
    const bound = this.bind({ ...input, resource, namespace: undefined });
    return evaluateConditions(this.#conditions, bound, this.failurePolicy);
  }

  bind(input: ExpressionInput): cel.BoundVariables {
    return this.#variables.bind(activationOf(input));
  }
}
