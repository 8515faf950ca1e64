import type { cel } from '#machinery';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { ServedResource } from '../../registry/served-resource.ts';
import type { VersionedRequest } from '../matching/versioned-request.ts';
import { admissionRequest } from './admission-request.ts';
import type { RequestAuthorizer } from './request-authorizer.ts';

/** An expression of a webhook or a policy with what compiling it gave. */
export interface Expression {
  readonly text: string;
  readonly result: cel.CompileResult;
}

/** What came of one expression: an error concerns it alone. */
export type Evaluation =
  | { readonly value: cel.CelValue; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: string };

/** Expressions cost more than they may: none after it is evaluated. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget';

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** What expressions know while they are evaluated. */
export interface ExpressionInput {
  readonly request: VersionedRequest;
  /** The resource that `request.resource` names; by default the one that matched. */
  readonly resource?: ServedResource;
  readonly params?: KubeObject | null;
  readonly namespace?: KubeObject | undefined;
  readonly authorizer?: RequestAuthorizer | undefined;
}

export function activationOf({ request, resource, params, namespace, authorizer }: ExpressionInput): cel.Activation {
  return {
    object: request.object,
    oldObject: request.oldObject,
    request: admissionRequest(request, resource),
    params: params ?? null,
    namespaceObject: namespace === undefined ? null : namespaceVariable(namespace),
    ...authorizer?.variables(),
  };
}

function namespaceVariable({ metadata, spec, status }: KubeObject): unknown {
  const { uid, ...others } = metadata;
  return { metadata: { ...others, ...(uid !== undefined && { UID: uid }) }, spec: spec ?? {}, status: status ?? {} };
}

/** Evaluates expressions one after the other within a budget that they share. */
export class Evaluator {
  readonly #bound: cel.BoundVariables;
  #budget: number;

  constructor(bound: cel.BoundVariables, budget: number) {
    this.#bound = bound;
    this.#budget = budget;
  }

  get budget(): number {
    return this.#budget;
  }

  /** Throws OutOfBudget. */
  evaluate({ text, result }: Expression): Evaluation {
    if (!result.ok) return { error: `compilation error: ${compileProblem(result)}` };
    const outcome = result.program.run(this.#bound.activation);
    this.#spend(this.#bound.takeCost());
    this.#spend(outcome.cost);
    if (outcome.error === undefined) return { value: outcome.value };
    return { error: `expression '${text}' resulted in error: ${outcome.error.message}` };
  }

  #spend(cost: number): void {
    if (cost > this.#budget) throw new OutOfBudget();
    this.#budget -= cost;
  }
}

/** Why an expression does not compile, as the API server says it. */
export function compileProblem(result: cel.CompileResult & { ok: false }): string {
  switch (result.stage) {
    case 'compile':
      return `compilation failed: ${result.message}`;
    case 'result':
      return result.message;
    case 'program':
      return `program instantiation failed: ${result.message}`;
  }
}
