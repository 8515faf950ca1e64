import { compileRegex } from '../library/standard.ts';
import { clauseProblem, parseFormat } from '../library/string-format.ts';
import { type CallExpr, children, type Expr, type ListExpr, type MapExpr } from '../syntax/ast.ts';
import type { Issue } from '../syntax/source.ts';
import { type CelType, formatType, isEquivalentType, unwrapOptional } from '../types.ts';
import { durationFrom, timestampFrom } from '../values/conversions.ts';
import { type CelValue, EvalFailure } from '../values/value.ts';
import type { CheckedExpr } from './checker.ts';

/** A node, and whether an enclosing call is exempt from the rule that literals hold one type. */
interface VisitedNode {
  readonly expr: Expr;
  readonly isExempt: boolean;
}

/**
 * Errors of a well-typed expression that do not depend on its variables: invalid constant times, durations, patterns and formats, and literals of
 * mixed types.
 */
export function validate(checked: CheckedExpr): readonly Issue[] {
  const nodes = descendants(checked.expr);
  const calls = nodes.flatMap(({ expr }) => (expr.kind === 'call' ? [expr] : []));
  const report = reporter(checked);
  return [
    ...calls.flatMap((call) => literalIssues(call, { name: 'duration', parse: durationFrom }, report)),
    ...calls.flatMap((call) => literalIssues(call, { name: 'timestamp', parse: timestampFrom }, report)),
    ...calls.flatMap((call) => literalIssues(call, { name: 'matches', parse: compilePattern }, report)),
    ...nodes.flatMap(({ expr, isExempt }) => (expr.kind === 'list' && !isExempt ? listIssues(checked, expr, report) : [])),
    ...nodes.flatMap(({ expr, isExempt }) => (expr.kind === 'map' && !isExempt ? mapIssues(checked, expr, report) : [])),
    ...calls.flatMap((call) => formatIssues(checked, call, report)),
  ];
}

type Report = (expr: Expr, message: string) => Issue;

function reporter(checked: CheckedExpr): Report {
  return (expr, message) => ({ message, location: checked.ids.locationOf(expr.id) });
}

function descendants(root: Expr): readonly VisitedNode[] {
  const visited: VisitedNode[] = [];
  const seen = new Set<Expr>();
  const stack: VisitedNode[] = [{ expr: root, isExempt: false }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (seen.has(next.expr)) continue;
    seen.add(next.expr);
    visited.push(next);
    const isExempt = next.isExempt || (next.expr.kind === 'call' && next.expr.function === 'format');
    for (const child of children(next.expr).toReversed()) stack.push({ expr: child, isExempt });
  }
  return visited;
}

function compilePattern(pattern: CelValue): void {
  if (typeof pattern === 'string') compileRegex(pattern);
}

interface LiteralRule {
  readonly name: string;
  readonly parse: (value: CelValue) => unknown;
}

function literalIssues(call: CallExpr, { name, parse }: LiteralRule, report: Report): readonly Issue[] {
  const [arg] = call.args;
  if (call.function !== name || arg?.kind !== 'literal' || !fails(() => parse(arg.value))) return [];
  return [report(arg, `invalid ${name} argument`)];
}

function fails(action: () => unknown): boolean {
  try {
    action();
    return false;
  } catch (error) {
    if (error instanceof EvalFailure) return true;
    throw error;
  }
}

function mismatch(expr: Expr, types: { readonly expected: CelType; readonly actual: CelType }, report: Report): Issue {
  return report(expr, `expected type '${formatType(types.expected)}' but found '${formatType(types.actual)}'`);
}

function listIssues(checked: CheckedExpr, list: ListExpr, report: Report): readonly Issue[] {
  const types = list.elements.map((element, i) => {
    const type = checked.typeOf(element);
    return list.optionals.has(i) ? unwrapOptional(type) : type;
  });
  return firstMismatch(list.elements, types, report);
}

function firstMismatch(exprs: readonly Expr[], types: readonly CelType[], report: Report): readonly Issue[] {
  const [expected] = types;
  const index = types.findIndex((type) => expected !== undefined && !isEquivalentType(expected, type));
  const actual = types[index];
  const expr = exprs[index];
  return expected === undefined || actual === undefined || expr === undefined ? [] : [mismatch(expr, { expected, actual }, report)];
}

function mapIssues(checked: CheckedExpr, map: MapExpr, report: Report): readonly Issue[] {
  const keys = map.entries.map(({ key }) => checked.typeOf(key));
  const values = map.entries.map(({ value, optional }) => (optional ? unwrapOptional(checked.typeOf(value)) : checked.typeOf(value)));
  return map.entries.flatMap(({ key, value }, i) => [
    ...firstMismatch(
      [key, key],
      [keys[0], keys[i]].flatMap((type) => type ?? []),
      report,
    ),
    ...firstMismatch(
      [value, value],
      [values[0], values[i]].flatMap((type) => type ?? []),
      report,
    ),
  ]);
}

/** Checks a constant format against the types of the arguments that are listed with it. */
function formatIssues(checked: CheckedExpr, call: CallExpr, report: Report): readonly Issue[] {
  const list = call.args[0];
  const format = call.target?.kind === 'literal' ? call.target.value : undefined;
  if (call.function !== 'format' || typeof format !== 'string' || call.args.length !== 1 || list?.kind !== 'list') return [];
  const typed: TypeContext = { typeOf: checked.typeOf, report };
  try {
    const clauses = parseFormat(format, list.elements.length, { isCompiling: true }).filter((piece) => typeof piece !== 'string');
    const problem = clauses.map(({ letter }, i) => argumentIssue(typed, letter, list.elements[i])).find((issue) => issue !== undefined);
    if (problem !== undefined) return [problem];
    if (list.elements.length <= clauses.length) return [];
    const message = `too many arguments supplied to string.format (expected ${clauses.length}, got ${list.elements.length})`;
    return [report(call, message)];
  } catch (error) {
    if (error instanceof EvalFailure) return [report(call, error.message)];
    throw error;
  }
}

interface TypeContext {
  readonly typeOf: CheckedExpr['typeOf'];
  readonly report: Report;
}

function argumentIssue(typed: TypeContext, letter: string, arg: Expr | undefined): Issue | undefined {
  if (arg === undefined) return undefined;
  const type = typed.typeOf(arg);
  const isText = type.kind === 'string' && (letter === 'f' || letter === 'e');
  const problem = type.kind === 'dyn' || isText ? undefined : clauseProblem(letter, type);
  if (problem !== undefined) return typed.report(arg, `error during formatting: ${problem}`);
  if (letter !== 's') return undefined;
  return children(arg.kind === 'list' || arg.kind === 'map' ? arg : { kind: 'literal', id: arg.id, value: null })
    .map((inner) => argumentIssue(typed, letter, inner))
    .find((issue) => issue !== undefined);
}
