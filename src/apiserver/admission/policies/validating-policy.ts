import type { admissionregistration } from '#api';
import { cel, type StatusReason } from '#machinery';
import { evaluatedVariables } from '../expressions/admission-variables.ts';
import { activationOf, type Evaluation, Evaluator, type Expression, type ExpressionInput, OutOfBudget } from '../expressions/evaluation.ts';
import { compileConditions, evaluateConditions, type MatchConditions } from '../expressions/match-conditions.ts';
import type { MatchContext } from '../matching/match-context.ts';
import type { CompiledPolicy } from './invocations.ts';
import { policyMatcher } from './policy-binding.ts';

type PolicyObject = admissionregistration.ValidatingAdmissionPolicy;

interface Validation extends Expression {
  readonly message: string;
  readonly reason: StatusReason;
  readonly messageExpression: Expression | undefined;
}

interface AuditAnnotation extends Expression {
  readonly key: string;
}

/** A violation, or a failure that counts as one. */
export interface Denial {
  /** Which of the validations. */
  readonly index: number;
  readonly message: string;
  readonly reason: StatusReason;
}

export interface PolicyResult {
  readonly denials: readonly Denial[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Failed audit annotations under failure policy Fail: they deny the request whatever the validation actions are. */
  readonly annotationErrors: readonly string[];
}

const ADMITTED: PolicyResult = { denials: [], annotations: [], annotationErrors: [] };

/** A ValidatingAdmissionPolicy with its expressions compiled. */
export class ValidatingPolicy implements CompiledPolicy {
  readonly name: string;
  readonly failurePolicy: string;
  readonly matcher: CompiledPolicy['matcher'];
  readonly paramKind: CompiledPolicy['paramKind'];
  readonly #variables: cel.PolicyVariables;
  readonly #conditions: MatchConditions;
  readonly #validations: readonly Validation[];
  readonly #annotations: readonly AuditAnnotation[];

  constructor({ metadata, spec = {} }: PolicyObject, context: MatchContext) {
    this.name = metadata.name ?? '';
    this.failurePolicy = spec.failurePolicy ?? 'Fail';
    this.paramKind = spec.paramKind;
    this.matcher = policyMatcher(spec.matchConstraints ?? {}, context);
    const hasParams = spec.paramKind !== undefined;
    this.#variables = policyVariables(spec.variables ?? [], hasParams);
    this.#conditions = compileConditions(spec.matchConditions, this.#variables);
    this.#validations = (spec.validations ?? []).map((validation) => compileValidation(validation, this.#variables, hasParams));
    this.#annotations = (spec.auditAnnotations ?? []).map(({ key = '', valueExpression = '' }) => {
      return { key, text: valueExpression, result: this.#variables.compile(valueExpression, { resultTypes: [cel.STRING, cel.NULL] }) };
    });
  }

  evaluate(input: ExpressionInput): PolicyResult {
    const { attributes } = input.request;
    const conditions = this.#bind({ ...input, resource: attributes.resource, namespace: undefined });
    const { matches, error } = evaluateConditions(this.#conditions, conditions, this.failurePolicy);
    if (error !== undefined) return this.#failed(error);
    if (!matches) return ADMITTED;
    try {
      return this.#validate(input);
    } catch (problem) {
      if (problem instanceof OutOfBudget) return this.#failed(problem.message);
      throw problem;
    }
  }

  #bind(input: ExpressionInput): cel.BoundVariables {
    return this.#variables.bind(activationOf(input));
  }

  #failed(message: string): PolicyResult {
    return this.failurePolicy === 'Ignore' ? ADMITTED : { ...ADMITTED, denials: [{ index: 0, message, reason: '' }] };
  }

  #validate(input: ExpressionInput): PolicyResult {
    const evaluator = new Evaluator(this.#bind(input), cel.RUNTIME_COST_BUDGET);
    const evaluations = this.#validations.map((validation) => evaluator.evaluate(validation));
    const messages = new Evaluator(this.#bind({ ...input, authorizer: undefined }), evaluator.budget);
    const denials = evaluations.flatMap((evaluation, index) => this.#denial(evaluation, index, messages));
    return { ...this.#annotate(input), denials };
  }

  #denial(evaluation: Evaluation, index: number, messages: Evaluator): readonly Denial[] {
    const validation = this.#validations[index]!;
    if (evaluation.error !== undefined) {
      return this.failurePolicy === 'Ignore' ? [] : [{ index, message: evaluation.error, reason: '' }];
    }
    if (evaluation.value === true) return [];
    try {
      return [{ index, message: denialMessage(validation, messages), reason: validation.reason }];
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return this.failurePolicy === 'Ignore' ? [] : [{ index, message: `failed messageExpression: ${error.message}`, reason: '' }];
    }
  }

  #annotate(input: ExpressionInput): Pick<PolicyResult, 'annotations' | 'annotationErrors'> {
    if (this.#annotations.length === 0) return { annotations: [], annotationErrors: [] };
    const evaluator = new Evaluator(this.#bind({ ...input, authorizer: undefined }), cel.RUNTIME_COST_BUDGET);
    const annotations: { key: string; value: string }[] = [];
    const annotationErrors: string[] = [];
    for (const annotation of this.#annotations) {
      const { value, error } = evaluator.evaluate(annotation);
      const text = typeof value === 'string' ? value.trim() : '';
      if (text !== '') annotations.push({ key: annotation.key, value: text });
      if (error !== undefined && this.failurePolicy !== 'Ignore') annotationErrors.push(error);
    }
    return { annotations, annotationErrors };
  }
}

function policyVariables(definitions: readonly admissionregistration.Variable[], hasParams: boolean): cel.PolicyVariables {
  const variables = new cel.PolicyVariables({ variables: evaluatedVariables({ hasParams, hasAuthorizer: true }) });
  for (const { name = '', expression = '' } of definitions) variables.define(name, expression);
  return variables;
}

function compileValidation(
  { expression = '', message = '', reason = 'Invalid', messageExpression }: admissionregistration.Validation,
  variables: cel.PolicyVariables,
  hasParams: boolean,
): Validation {
  return {
    text: expression,
    result: variables.compile(expression, { resultTypes: [cel.BOOL] }),
    message: message.trim(),
    reason: reason as StatusReason,
    messageExpression: messageExpression ? compileMessage(messageExpression, variables, hasParams) : undefined,
  };
}

/** Message expressions have no authorizer. */
function compileMessage(text: string, policy: cel.PolicyVariables, hasParams: boolean): Expression {
  const variables = { ...evaluatedVariables({ hasParams, hasAuthorizer: false }), variables: policy.type };
  return { text, result: cel.compile(text, { variables, resultTypes: [cel.STRING] }) };
}

/** The value of messageExpression if it is a single line within the size limit; else the fixed message or the expression. */
function denialMessage({ text, message, messageExpression }: Validation, messages: Evaluator): string {
  const { value } = messageExpression === undefined ? { value: undefined } : messages.evaluate(messageExpression);
  const custom = typeof value === 'string' ? value.trim() : '';
  const isUsable = custom !== '' && Buffer.byteLength(custom) <= cel.MAX_MESSAGE_SIZE && !custom.includes('\n');
  return (isUsable ? custom : message) || `failed expression: ${text.trim()}`;
}
