import type { Macro } from '../syntax/macros.ts';
import type { CelType } from '../types.ts';
import type { CelValue } from '../values/value.ts';

/** What a function does with values of the types its overload declares. */
export type Implementation = (...args: never[]) => CelValue;

/** One signature of a function. For a method the receiver is the first argument. */
export interface Overload {
  readonly id: string;
  readonly isMethod: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly typeParams: readonly string[];
  /** Absent for what the evaluator handles itself: operators, `&&`, `?:`. */
  readonly impl: Implementation | undefined;
}

export interface FunctionDecl {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

/** Functions, types and macros that come together. */
export interface CelLibrary {
  readonly functions: readonly FunctionDecl[];
  readonly types?: readonly CelType[];
  readonly macros?: readonly Macro[];
}

interface Signature {
  readonly args: readonly CelType[];
  readonly result: CelType;
}

/** An overload of a plain function: `quantity("1")`. */
export function overload(id: string, signature: Signature, impl?: Implementation): Overload {
  return { id, isMethod: false, ...signature, typeParams: paramsOf(signature), impl };
}

/** An overload of a method: `"a".charAt(0)`. */
export function method(id: string, signature: Signature, impl?: Implementation): Overload {
  return { id, isMethod: true, ...signature, typeParams: paramsOf(signature), impl };
}

export function declare(name: string, ...overloads: readonly Overload[]): FunctionDecl {
  return { name, overloads };
}

function paramsOf(signature: Signature): readonly string[] {
  const names = new Set<string>();
  for (const type of [...signature.args, signature.result]) collectParams(type, names);
  return [...names];
}

function collectParams(type: CelType, names: Set<string>): void {
  if (type.kind === 'param') names.add(type.name);
  for (const p of type.params) collectParams(p, names);
}
