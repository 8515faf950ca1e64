import { lookupTable } from '#base';
import type { Reference } from '../check/checker.ts';
import type { Overload } from '../check/declarations.ts';
import { type CallCost, callCost } from '../cost/runtime-cost.ts';
import { compileRegex } from '../library/standard.ts';
import type { CallExpr, Expr } from '../syntax/ast.ts';
import type { CelType } from '../types.ts';
import { CelList, toMapKey } from '../values/containers.ts';
import { equal } from '../values/equality.ts';
import { matchesType, typeOf } from '../values/inspect.ts';
import { addInt, divideInt, moduloInt, multiplyInt, subtractInt } from '../values/integers.ts';
import { type CelInt, type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';
import { charge, constantPlan, type Evaluate, evaluateConstant, isConstant, type Plan } from './context.ts';
import { countEffort, type Effort, effortOf, measuredCall, rememberSizes } from './effort.ts';
import * as operators from './operators.ts';
import { planConditional, planIndex, planLogical, planOptionalSelect, planOr } from './plan-logic.ts';
import type { Planner } from './planner.ts';

type Apply = (...args: CelValue[]) => CelValue;
type FunctionReference = Reference & { readonly kind: 'function' };

/** A call of an operator, a function or a method. */
export function planCall(planner: Planner, expr: CallExpr): Plan {
  switch (expr.function) {
    case '_&&_':
      return planLogical(planner, expr, false);
    case '_||_':
      return planLogical(planner, expr, true);
    case '_?_:_':
      return planConditional(planner, expr);
    case '_[_]':
      return planIndex(planner, expr, false);
    case '_[?_]':
      return planIndex(planner, expr, true);
    case '_?._':
      return planOptionalSelect(planner, expr);
    default:
      return planFunction(planner, expr);
  }
}

function planFunction(planner: Planner, expr: CallExpr): Plan {
  const reference = planner.checked.referenceOf(expr);
  if (reference?.kind !== 'function') throw new Error(`the call of ${expr.function} was not checked`);
  if (isOptionalOr(reference)) return planOr(planner, expr, expr.function === 'orValue');
  const isMethod = expr.target !== undefined && !reference.isQualified;
  const argExprs = isMethod && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args;
  const args = argExprs.map((arg) => planner.plan(arg));
  const only = reference.overloads.length === 1 ? reference.overloads[0] : undefined;
  const cost = callCost(reference.decl.name, only?.id ?? overloadOfOperator(reference.decl.name));
  const call = { planner, reference, only, argExprs, args, cost };
  const optimized = optimize(call);
  if (optimized !== undefined) return optimized;
  const apply = implementation(call);
  const isSize = reference.decl.name === 'size' && args.length === 1;
  return callPlan(args, { apply: isSize ? rememberSizes(apply) : apply, cost, effort: effortOf(reference.decl.name) });
}

// Equality is one overload whatever its arguments are.
function overloadOfOperator(name: string): string {
  return name === '_==_' ? 'equals' : name === '_!=_' ? 'not_equals' : '';
}

function isOptionalOr(reference: FunctionReference): boolean {
  return reference.overloads.some(({ id }) => id === 'optional_or_optional' || id === 'optional_orValue_value');
}

interface Call {
  readonly planner: Planner;
  readonly reference: FunctionReference;
  /** The overload, if the types leave only one. */
  readonly only: Overload | undefined;
  readonly argExprs: readonly Expr[];
  readonly args: readonly Plan[];
  readonly cost: CallCost;
}

interface Operation {
  readonly apply: Apply;
  readonly cost: CallCost;
  readonly effort: Effort;
}

function callPlan(args: readonly Plan[], operation: Operation): Plan {
  return { evaluate: callEvaluation(args, operation), attributeCost: 0 };
}

function callEvaluation(args: readonly Plan[], operation: Operation): Evaluate {
  const { apply, cost, effort } = operation;
  const [first, second] = args;
  if (args.length === 1 && first !== undefined) return unaryEvaluation(first.evaluate, operation);
  if (args.length === 2 && first !== undefined && second !== undefined) {
    return binaryEvaluation({ first: first.evaluate, second: second.evaluate }, operation);
  }
  return (context) => {
    const values = args.map((arg) => arg.evaluate(context));
    for (const value of values) countEffort(context, value, effort);
    // bounded: spread lists are the arguments of a call in an expression, which has a maximal length
    if (typeof cost !== 'number') return measuredCall({ context, values, cost }, () => apply(...values));
    const result = apply(...values);
    charge(context, cost);
    return result;
  };
}

function unaryEvaluation(argument: Evaluate, { apply, cost, effort }: Operation): Evaluate {
  if (typeof cost === 'number') {
    return (context) => {
      const value = argument(context);
      charge(context, cost);
      countEffort(context, value, effort);
      return apply(value);
    };
  }
  return (context) => {
    const value = argument(context);
    countEffort(context, value, effort);
    return measuredCall({ context, values: [value], cost }, () => apply(value));
  };
}

function binaryEvaluation(
  { first, second }: { readonly first: Evaluate; readonly second: Evaluate },
  { apply, cost, effort }: Operation,
): Evaluate {
  if (typeof cost === 'number') {
    return (context) => {
      const a = first(context);
      const b = second(context);
      charge(context, cost);
      countEffort(context, a, effort);
      countEffort(context, b, effort);
      return apply(a, b);
    };
  }
  return (context) => {
    const a = first(context);
    const b = second(context);
    countEffort(context, a, effort);
    countEffort(context, b, effort);
    return measuredCall({ context, values: [a, b], cost }, () => apply(a, b));
  };
}

const CONVERSIONS: ReadonlySet<string> = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '));
const REGEX_FUNCTIONS: ReadonlySet<string> = new Set(['matches', 'find', 'findAll']);

/** Precomputes what upstream does before the first evaluation: constant conversions and patterns, membership in constant lists. */
function optimize(call: Call): Plan | undefined {
  const { reference, args, only } = call;
  const { name } = reference.decl;
  const [first, second] = args;
  if (CONVERSIONS.has(name) && args.length === 1 && first !== undefined && isConstant(first)) {
    return constantPlan(evaluateConstant(callPlan(args, { apply: implementation(call), cost: call.cost, effort: 'texts' }).evaluate));
  }
  if (only?.id === 'in_list' && first !== undefined && second !== undefined && isConstant(second) && second.constant instanceof CelList) {
    return planMembership(first, second.constant);
  }
  if (REGEX_FUNCTIONS.has(name) && second !== undefined && isConstant(second) && typeof second.constant === 'string') {
    return planConstantRegex(call, second.constant);
  }
  return undefined;
}

/** `x in [constants]`: a look-up, if all of them are scalars. */
function planMembership(value: Plan, list: CelList): Plan | undefined {
  if (list.size === 0) return constantPlan(false);
  const keys = new Set(list.values().map(toMapKey));
  if (keys.has(undefined)) return undefined;
  const evaluate: Evaluate = (context) => {
    const key = toMapKey(value.evaluate(context));
    return key !== undefined && keys.has(key);
  };
  return { evaluate, attributeCost: 0 };
}

function planConstantRegex(call: Call, pattern: string): Plan {
  const regex = compileRegex(pattern);
  const requireText = (value: CelValue): string => {
    if (typeof value !== 'string') throw noSuchOverload();
    return value;
  };
  const planned = (apply: (text: CelValue, limit: CelValue | undefined) => CelValue): Plan =>
    callPlan(call.args, { apply: (text, _, limit) => apply(text as CelValue, limit), cost: call.cost, effort: 'texts' });
  switch (call.reference.decl.name) {
    case 'matches':
      return planned((text) => regex.test(requireText(text)));
    case 'find':
      return planned((text) => regex.find(requireText(text)));
    default:
      return planned((text, limit) => CelList.of(regex.findAll(requireText(text), limit === undefined ? -1 : Number(limit))));
  }
}

function implementation(call: Call): Apply {
  const typed = call.only === undefined ? undefined : TYPED_OPERATORS[call.only.id];
  if (typed !== undefined && call.argExprs.every((arg, i) => isExact(call.planner.typeOf(arg), call.only?.args[i]))) return typed as Apply;
  const dynamic = DYNAMIC_OPERATORS[call.reference.decl.name];
  if (dynamic !== undefined) return dynamic as Apply;
  return call.only === undefined ? dispatcher(call) : guarded(call, call.only);
}

// With both types known no dispatch is needed.
const TYPED_OPERATORS = lookupTable<(...args: never[]) => CelValue>({
  add_int64: addInt,
  subtract_int64: subtractInt,
  multiply_int64: multiplyInt,
  divide_int64: divideInt,
  modulo_int64: moduloInt,
  add_string: (a: string, b: string) => a + b,
  less_int64: (a: CelInt, b: CelInt) => a < b,
  less_equals_int64: (a: CelInt, b: CelInt) => a <= b,
  greater_int64: (a: CelInt, b: CelInt) => a > b,
  greater_equals_int64: (a: CelInt, b: CelInt) => a >= b,
});

const DYNAMIC_OPERATORS = lookupTable<(...args: never[]) => CelValue>({
  '_==_': equal,
  '_!=_': (a: CelValue, b: CelValue) => !equal(a, b),
  '_+_': operators.add,
  '_-_': operators.subtract,
  '_*_': operators.multiply,
  '_/_': operators.divide,
  '_%_': operators.modulo,
  '_<_': operators.less,
  '_<=_': operators.lessEquals,
  '_>_': operators.greater,
  '_>=_': operators.greaterEquals,
  '-_': operators.negate,
  '!_': operators.not,
  '@in': operators.contains,
});

/** Whether every value of the type matches the overload's declaration. */
function isExact(actual: CelType, declared: CelType | undefined): boolean {
  if (declared === undefined) return false;
  if (declared.isDynamic || declared.kind === 'param') return true;
  if (actual.kind !== declared.kind || actual.name !== declared.name) return false;
  return declared.params.every((parameter, i) => {
    const own = actual.params[i];
    return own !== undefined && isExact(own, parameter);
  });
}

/** Calls the only overload; checks arguments whose types were unknown at compile time. */
function guarded(call: Call, overload: Overload): Apply {
  const apply = implementationOf(overload);
  const unsure = overload.args.flatMap((parameter, i) => {
    const arg = call.argExprs[i];
    return arg !== undefined && isExact(call.planner.typeOf(arg), parameter) ? [] : [i];
  });
  if (unsure.length === 0) return apply;
  const { name } = call.reference.decl;
  const matches = UNGUARDED.has(name) ? matchesOuterType : matchesArgument;
  return (...args) => {
    for (const i of unsure) if (!matches(args, overload, i)) throw missingOverload(name, args);
    return apply(...args);
  };
}

/** Picks the overload by the arguments' values. */
function dispatcher(call: Call): Apply {
  const { decl, overloads } = call.reference;
  const candidates = overloads.map((overload) => ({ overload, apply: implementationOf(overload) }));
  return (...args) => {
    for (const { overload, apply } of candidates) {
      if (overload.args.every((_, i) => matchesArgument(args, overload, i))) return apply(...args);
    }
    throw missingOverload(decl.name, args);
  };
}

// Of their arguments only the outermost type counts.
const UNGUARDED: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith', 'flatten']);

function implementationOf(overload: Overload): Apply {
  if (overload.impl === undefined) throw new Error(`${overload.id} has no implementation`);
  return overload.impl as Apply;
}

function matchesArgument(args: readonly CelValue[], overload: Overload, index: number): boolean {
  const value = args[index];
  const parameter = overload.args[index];
  return value !== undefined && parameter !== undefined && matchesType(value, parameter);
}

function matchesOuterType(args: readonly CelValue[], overload: Overload, index: number): boolean {
  const value = args[index];
  return value !== undefined && typeOf(value).name === overload.args[index]?.name;
}

const BY_TRAIT: ReadonlySet<string> = new Set(['size', 'matches']);

function missingOverload(name: string, args: readonly CelValue[]): EvalFailure {
  if (UNGUARDED.has(name)) return noSuchOverload();
  if (BY_TRAIT.has(name)) return new EvalFailure(`no such overload: ${name}`);
  return new EvalFailure(`no such overload: ${name}(${args.map((arg) => typeOf(arg).name).join(', ')})`);
}
