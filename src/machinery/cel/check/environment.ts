import type { Macro } from '../syntax/macros.ts';
import { type CelType, typeType } from '../types.ts';
import type { CelLibrary, FunctionDecl } from './declarations.ts';

/** Looks up a struct type by name, for names that are not declared up front. */
export type TypeResolver = (name: string) => CelType | undefined;

/** The functions, types and macros that expressions may use. Built once, shared by any number of expressions. */
export class CelEnvironment {
  readonly macros: readonly Macro[];
  private readonly functions: ReadonlyMap<string, FunctionDecl>;
  private readonly types: ReadonlyMap<string, CelType>;

  constructor(libraries: readonly CelLibrary[]) {
    const functions = new Map<string, FunctionDecl>();
    const types = new Map<string, CelType>();
    for (const library of libraries) {
      for (const decl of library.functions) functions.set(decl.name, merge(functions.get(decl.name), decl));
      for (const type of library.types ?? []) types.set(type.name, typeType(type));
    }
    this.functions = functions;
    this.types = types;
    this.macros = libraries.flatMap((library) => library.macros ?? []);
  }

  findFunction(name: string): FunctionDecl | undefined {
    return this.functions.get(name);
  }

  /** The type of the identifier that names a type. */
  findTypeName(name: string): CelType | undefined {
    return this.types.get(name);
  }
}

function merge(existing: FunctionDecl | undefined, added: FunctionDecl): FunctionDecl {
  if (existing === undefined) return added;
  return { name: existing.name, overloads: [...existing.overloads, ...added.overloads] };
}
