import type { cel } from '#machinery';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { VersionedRequest } from '../matching/versioned-request.ts';
import { admissionRequest } from './admission-request.ts';
import type { RequestAuthorizer } from './request-authorizer.ts';

/** An expression of a webhook or a policy, with its compilation result. */
export interface Expression {
  readonly text: string;
  readonly result: cel.CompileResult;
}

/** The result of one expression. An error affects no other expression. */
export type Evaluation =
  | { readonly value: cel.CelValue; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: string };

/** The shared cost budget is used up: no further expression is evaluated. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget';

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** Inputs of expression evaluation. */
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

/** The compilation error, as the API server reports it. */
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
