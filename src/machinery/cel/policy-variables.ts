import { type CompileOptions, type CompileResult, compile } from './compile.ts';
import type { Activation } from './eval/context.ts';
import { type CelType, DYN, objectType } from './types.ts';
import { CelObject, type CelValue, EvalFailure, noSuchOverload } from './values/value.ts';

const TYPE_NAME = 'kubernetes.variables';

/**
 * The named expressions of a policy, which others use as `variables.name`. A variable may use those defined before
 * it. Each is evaluated when first needed, at most once for an activation.
 */
export class PolicyVariables {
  /** The type of `variables`, with the names defined so far. */
  readonly type: CelType = objectType(TYPE_NAME, (name) => {
    const result = this.results.get(name);
    return result === undefined ? undefined : { type: result.ok ? result.program.outputType : DYN, property: name };
  });
  private readonly options: CompileOptions;
  private readonly results = new Map<string, CompileResult>();

  constructor(options: CompileOptions) {
    this.options = options;
  }

  define(name: string, expression: string): CompileResult {
    const result = this.compile(expression);
    this.results.set(name, result);
    return result;
  }

  /** Compiles an expression that may use the variables. */
  compile(expression: string, options: Pick<CompileOptions, 'resultTypes'> = {}): CompileResult {
    const variables = { ...this.options.variables, variables: this.type };
    return compile(expression, { ...this.options, ...options, variables });
  }

  /** The activation with `variables` added. */
  bind(activation: Activation): BoundVariables {
    return new BoundVariables(this.type, this.results, activation);
  }
}

/** The variables of a policy over one activation. */
export class BoundVariables {
  /** The activation for the policy's expressions. */
  readonly activation: Activation;
  private readonly values: LazyVariables;

  constructor(type: CelType, results: ReadonlyMap<string, CompileResult>, activation: Activation) {
    this.values = new LazyVariables(type, results, activation);
    this.activation = { ...activation, variables: this.values };
  }

  /** The cost of evaluating variables since the last call. */
  takeCost(): number {
    return this.values.takeCost();
  }
}

class LazyVariables extends CelObject {
  readonly type: CelType;
  private readonly results: ReadonlyMap<string, CompileResult>;
  private readonly activation: Activation;
  private readonly values = new Map<string, CelValue | EvalFailure>();
  private cost = 0;

  constructor(type: CelType, results: ReadonlyMap<string, CompileResult>, activation: Activation) {
    super();
    this.type = type;
    this.results = results;
    this.activation = activation;
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof LazyVariables)) throw noSuchOverload();
    return this === other;
  }

  takeCost(): number {
    const { cost } = this;
    this.cost = 0;
    return cost;
  }

  override getField(name: string): CelValue | undefined {
    const cached = this.values.get(name);
    const result = this.results.get(name);
    if (cached === undefined && result === undefined) return undefined;
    const value = cached ?? (result === undefined ? noSuchOverload() : this.evaluate(name, result));
    this.values.set(name, value);
    if (value instanceof EvalFailure) throw value;
    return value;
  }

  private evaluate(name: string, result: CompileResult): CelValue | EvalFailure {
    if (!result.ok) return new EvalFailure(`composited variable "${name}" fails to compile: ${result.message}`);
    const outcome = result.program.run({ ...this.activation, variables: this });
    this.cost += outcome.cost;
    if (outcome.error === undefined) return outcome.value;
    return new EvalFailure(`composited variable "${name}" fails to evaluate: ${outcome.error.message}`);
  }
}
