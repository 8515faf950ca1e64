import { ACCUMULATOR, type ComprehensionExpr, type Expr, type FoldShape, UNUSED_VARIABLE } from './ast.ts';
import type { ExprFactory } from './expr-factory.ts';

/** An error in a macro's arguments, at the node concerned. */
export class MacroError {
  readonly node: Expr;
  readonly message: string;

  constructor(node: Expr, message: string) {
    this.node = node;
    this.message = message;
  }
}

export interface MacroCall {
  readonly factory: ExprFactory;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export function macroKey(name: string, argCount: number, isMethod: boolean): string {
  return `${name}:${argCount}:${isMethod}`;
}

/** A call that is rewritten when the expression is parsed. Undefined from `expand` leaves the call as it is. */
export interface Macro {
  readonly name: string;
  readonly argCount: number;
  readonly isMethod: boolean;
  readonly expand: (call: MacroCall) => Expr | MacroError | undefined;
}

const LEGACY_ACCUMULATOR = '__result__';

interface Loop {
  readonly factory: ExprFactory;
  readonly range: Expr;
  readonly iterVar: string;
  readonly iterVar2?: string | undefined;
}

function method(name: string, argCount: number, expand: Macro['expand']): Macro {
  return { name, argCount, isMethod: true, expand };
}

function argument(args: readonly Expr[], index: number): Expr {
  const arg = args[index];
  if (arg === undefined) throw new Error(`macro argument ${index} is missing`);
  return arg;
}

/** The loop of one variable over a range; the macros differ in their error for an invalid variable. */
function oneVariableLoop(call: MacroCall, complaint: string): Loop | MacroError {
  const variable = argument(call.args, 0);
  if (variable.kind !== 'ident') return new MacroError(variable, complaint);
  if (isAccumulator(variable.name)) return new MacroError(variable, 'iteration variable overwrites accumulator variable');
  return { factory: call.factory, range: call.target ?? variable, iterVar: variable.name };
}

function twoVariableLoop(call: MacroCall): Loop | MacroError {
  const first = argument(call.args, 0);
  const second = argument(call.args, 1);
  if (first.kind !== 'ident') return new MacroError(first, 'argument must be a simple name');
  if (second.kind !== 'ident') return new MacroError(second, 'argument must be a simple name');
  if (first.name === second.name) return new MacroError(second, `duplicate variable name: ${first.name}`);
  const overwriting = [first, second].find((variable) => isAccumulator(variable.name));
  if (overwriting !== undefined) return new MacroError(overwriting, 'iteration variable overwrites accumulator variable');
  return { factory: call.factory, range: call.target ?? first, iterVar: first.name, iterVar2: second.name };
}

function isAccumulator(name: string): boolean {
  return name === ACCUMULATOR || name === LEGACY_ACCUMULATOR;
}

function withLoop(loop: Loop | MacroError, build: (loop: Loop) => Expr): Expr | MacroError {
  return loop instanceof MacroError ? loop : build(loop);
}

type FoldParts = Pick<ComprehensionExpr, 'accuInit' | 'condition' | 'step' | 'result'> & { readonly shape: FoldShape };

function fold(loop: Loop, parts: FoldParts): Expr {
  const { factory, ...variables } = loop;
  return factory.fold({ ...variables, accuVar: ACCUMULATOR, ...parts });
}

function all(loop: Loop, predicate: Expr): Expr {
  const f = loop.factory;
  return fold(loop, {
    accuInit: f.literal(true),
    condition: f.call('@not_strictly_false', f.accumulator()),
    step: f.call('_&&_', f.accumulator(), predicate),
    result: f.accumulator(),
    shape: { kind: 'all', predicate },
  });
}

function exists(loop: Loop, predicate: Expr): Expr {
  const f = loop.factory;
  return fold(loop, {
    accuInit: f.literal(false),
    condition: f.call('@not_strictly_false', f.call('!_', f.accumulator())),
    step: f.call('_||_', f.accumulator(), predicate),
    result: f.accumulator(),
    shape: { kind: 'exists', predicate },
  });
}

function existsOne(loop: Loop, predicate: Expr): Expr {
  const f = loop.factory;
  return fold(loop, {
    accuInit: f.literal(0),
    condition: f.literal(true),
    step: f.call('_?_:_', predicate, f.call('_+_', f.accumulator(), f.literal(1)), f.accumulator()),
    result: f.call('_==_', f.accumulator(), f.literal(1)),
    shape: { kind: 'existsOne', predicate },
  });
}

/** The step of a collecting fold, with an optional filter. */
function collecting(f: ExprFactory, add: Expr, filter: Expr | undefined): Expr {
  return filter === undefined ? add : f.call('_?_:_', filter, add, f.accumulator());
}

function append(loop: Loop, element: Expr, filter: Expr | undefined): Expr {
  const f = loop.factory;
  return fold(loop, {
    accuInit: f.list(),
    condition: f.literal(true),
    step: collecting(f, f.call('_+_', f.accumulator(), f.list(element)), filter),
    result: f.accumulator(),
    shape: { kind: 'append', element, filter },
  });
}

function insert(loop: Loop, value: Expr, filter: Expr | undefined): Expr {
  const f = loop.factory;
  return fold(loop, {
    accuInit: f.emptyMap(),
    condition: f.literal(true),
    step: collecting(f, f.call('cel.@mapInsert', f.accumulator(), f.ident(loop.iterVar), value), filter),
    result: f.accumulator(),
    shape: { kind: 'insert', value, filter },
  });
}

function merge(loop: Loop, map: Expr, filter: Expr | undefined): Expr {
  const f = loop.factory;
  return fold(loop, {
    accuInit: f.emptyMap(),
    condition: f.literal(true),
    step: collecting(f, f.call('cel.@mapInsert', f.accumulator(), map), filter),
    result: f.accumulator(),
    shape: { kind: 'merge', map, filter },
  });
}

/** Binds `name` to `init` within `body`: a fold without iterations, so that `init` is evaluated lazily. */
function bind(f: ExprFactory, binding: { readonly name: string; readonly init: Expr; readonly body: Expr }): Expr {
  return f.fold({
    range: f.list(),
    iterVar: UNUSED_VARIABLE,
    accuVar: binding.name,
    accuInit: binding.init,
    condition: f.literal(false),
    step: f.ident(binding.name),
    result: binding.body,
    shape: { kind: 'bind' },
  });
}

function has(call: MacroCall): Expr | MacroError {
  const select = argument(call.args, 0);
  if (select.kind !== 'select') return new MacroError(select, 'invalid argument to has() macro');
  return call.factory.presenceTest(select.operand, select.field);
}

const SIMPLE_NAME = 'argument must be a simple name';
const IDENTIFIER = 'argument is not an identifier';

function filterMacro(call: MacroCall): Expr | MacroError {
  return withLoop(oneVariableLoop(call, IDENTIFIER), (loop) => append(loop, argument(call.args, 0), argument(call.args, 1)));
}

/** The macros of the language itself. */
export const STANDARD_MACROS: readonly Macro[] = [
  { name: 'has', argCount: 1, isMethod: false, expand: has },
  method('all', 2, (call) => withLoop(oneVariableLoop(call, SIMPLE_NAME), (loop) => all(loop, argument(call.args, 1)))),
  method('exists', 2, (call) => withLoop(oneVariableLoop(call, SIMPLE_NAME), (loop) => exists(loop, argument(call.args, 1)))),
  ...['exists_one', 'existsOne'].map((name) =>
    method(name, 2, (call) => withLoop(oneVariableLoop(call, SIMPLE_NAME), (loop) => existsOne(loop, argument(call.args, 1)))),
  ),
  method('map', 2, (call) => withLoop(oneVariableLoop(call, IDENTIFIER), (loop) => append(loop, argument(call.args, 1), undefined))),
  method('map', 3, (call) =>
    withLoop(oneVariableLoop(call, IDENTIFIER), (loop) => append(loop, argument(call.args, 2), argument(call.args, 1))),
  ),
  method('filter', 2, filterMacro),
];

function transform(name: string, build: (loop: Loop, value: Expr, filter: Expr | undefined) => Expr): readonly Macro[] {
  return [
    method(name, 3, (call) => withLoop(twoVariableLoop(call), (loop) => build(loop, argument(call.args, 2), undefined))),
    method(name, 4, (call) => withLoop(twoVariableLoop(call), (loop) => build(loop, argument(call.args, 3), argument(call.args, 2)))),
  ];
}

/** Comprehensions over index and element, or key and value. */
export const TWO_VARIABLE_MACROS: readonly Macro[] = [
  method('all', 3, (call) => withLoop(twoVariableLoop(call), (loop) => all(loop, argument(call.args, 2)))),
  method('exists', 3, (call) => withLoop(twoVariableLoop(call), (loop) => exists(loop, argument(call.args, 2)))),
  ...['exists_one', 'existsOne'].map((name) =>
    method(name, 3, (call) => withLoop(twoVariableLoop(call), (loop) => existsOne(loop, argument(call.args, 2)))),
  ),
  ...transform('transformList', append),
  ...transform('transformMap', insert),
  ...transform('transformMapEntry', merge),
];

function optionalMacro(name: string, wrap: (f: ExprFactory, body: Expr) => Expr): Macro {
  return method(name, 2, (call) => {
    const f = call.factory;
    const variable = argument(call.args, 0);
    if (variable.kind !== 'ident') return new MacroError(variable, `${name}() variable name must be a simple identifier`);
    const target = call.target ?? variable;
    // The target occurs twice in the tree; copying it would make chains of these macros grow exponentially.
    const init = f.method('value', target);
    const body = bind(f, { name: variable.name, init, body: argument(call.args, 1) });
    return f.call('_?_:_', f.method('hasValue', target), wrap(f, body), f.call('optional.none'));
  });
}

export const OPTIONAL_MACROS: readonly Macro[] = [
  optionalMacro('optMap', (f, body) => f.call('optional.of', body)),
  optionalMacro('optFlatMap', (_, body) => body),
];

const SORT_INPUT = '@__sortBy_input__';

function sortBy(call: MacroCall): Expr | MacroError {
  const f = call.factory;
  const target = call.target ?? argument(call.args, 0);
  if (!['list', 'select', 'ident', 'comprehension', 'call'].includes(target.kind)) {
    return new MacroError(target, 'sortBy can only be applied to a list, identifier, comprehension, call or select expression');
  }
  const loop = oneVariableLoop({ ...call, target: f.ident(SORT_INPUT) }, IDENTIFIER);
  return withLoop(loop, (keys) => {
    const body = f.method('@sortByAssociatedKeys', f.ident(SORT_INPUT), append(keys, argument(call.args, 1), undefined));
    return bind(f, { name: SORT_INPUT, init: target, body });
  });
}

export const LIST_MACROS: readonly Macro[] = [method('sortBy', 2, sortBy)];

function celBind(call: MacroCall): Expr | MacroError | undefined {
  if (call.target?.kind !== 'ident' || call.target.name !== 'cel') return undefined;
  const variable = argument(call.args, 0);
  if (variable.kind !== 'ident') return new MacroError(variable, 'cel.bind() variable names must be simple identifiers');
  return bind(call.factory, { name: variable.name, init: argument(call.args, 1), body: argument(call.args, 2) });
}

/** `cel.bind(name, value, expression)`. The API server does not offer it. */
export const BINDING_MACROS: readonly Macro[] = [method('bind', 3, celBind)];
