import { check } from './check/checker.ts';
import type { CelEnvironment, TypeResolver } from './check/environment.ts';
import { validate } from './check/validators.ts';
import { KUBERNETES_ENVIRONMENT } from './environments.ts';
import { CelProgram } from './program.ts';
import { parse } from './syntax/parser.ts';
import { type Issue, Source } from './syntax/source.ts';
import { type CelType, isSameType } from './types.ts';
import { EvalFailure } from './values/value.ts';

export interface CompileOptions {
  /** The variables that the expression may use, by name; a name may be qualified: `authorizer.requestResource`. */
  readonly variables?: Readonly<Record<string, CelType>>;
  /** Functions and macros; those of the Kubernetes API by default. */
  readonly environment?: CelEnvironment;
  /** Struct types that the expression may construct. */
  readonly resolveType?: TypeResolver;
  /** Allowed result types; any by default. */
  readonly resultTypes?: readonly CelType[];
}

/**
 * A compiled expression, or the error. `message` is the API server's text: for `compile` the issues with their locations, for `result` that the
 * result type is not allowed, for `program` why a constant part cannot be evaluated.
 */
export type CompileResult =
  | { readonly ok: true; readonly program: CelProgram; readonly issues: readonly [] }
  | {
      readonly ok: false;
      readonly program?: undefined;
      readonly issues: readonly Issue[];
      readonly stage: 'compile' | 'result' | 'program';
      readonly message: string;
    };

/** Parses, checks and plans an expression. */
export function compile(expression: string, options: CompileOptions = {}): CompileResult {
  const source = new Source(expression);
  const { environment = KUBERNETES_ENVIRONMENT, variables = {}, resolveType } = options;
  const rejected = (issues: readonly Issue[]): CompileResult => ({
    ok: false,
    issues,
    stage: 'compile',
    message: source.formatAll(issues),
  });
  const parsed = parse(source, environment.macros);
  if (parsed.expr === undefined) return rejected(parsed.issues);
  const { checked, issues } = check(parsed.expr, parsed.ids, { environment, variables, resolveType });
  if (issues.length > 0) return rejected(issues);
  const invalid = validate(checked);
  if (invalid.length > 0) return rejected(invalid);
  const wrongType = resultProblem(checked.typeOf(checked.expr), options.resultTypes);
  if (wrongType !== undefined) return { ok: false, issues: [], stage: 'result', message: wrongType };
  try {
    return { ok: true, program: new CelProgram(expression, checked, variables), issues: [] };
  } catch (error) {
    if (error instanceof EvalFailure) return { ok: false, issues: [], stage: 'program', message: error.message };
    throw error;
  }
}

function resultProblem(actual: CelType, expected: readonly CelType[] | undefined): string | undefined {
  if (expected === undefined || expected.some((type) => type.kind === 'any' || isSameType(type, actual))) return undefined;
  const names = expected.map(typeText);
  const expectedText = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`;
  return `must evaluate to ${expectedText} but got ${typeText(actual)}`;
}

/** A type by its full name, parameters included. */
function typeText(type: CelType): string {
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(typeText).join(', ')})`;
}
