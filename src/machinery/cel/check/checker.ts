import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  qualifiedName,
  type SelectExpr,
  type StructExpr,
} from '../syntax/ast.ts';
import type { NodeIds } from '../syntax/expr-factory.ts';
import type { Issue } from '../syntax/source.ts';
import {
  BOOL,
  boundedType,
  type CelType,
  DYN,
  ERROR,
  formatSignature,
  formatType,
  INT,
  isOptionalType,
  isSameType,
  listType,
  mapType,
  optionalType,
  param,
  typeType,
  unwrapOptional,
} from '../types.ts';
import { typeOf } from '../values/inspect.ts';
import type { FunctionDecl, Overload } from './declarations.ts';
import type { CelEnvironment, TypeResolver } from './environment.ts';
import { mostGeneral, replaceParams, Substitution } from './substitution.ts';

/** What a name or a call in an expression refers to. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'local'; readonly name: string }
  | { readonly kind: 'type'; readonly type: CelType }
  | { readonly kind: 'struct'; readonly type: CelType }
  /** `isQualified`: what looks like a method's receiver is part of the function's name. */
  | { readonly kind: 'function'; readonly decl: FunctionDecl; readonly overloads: readonly Overload[]; readonly isQualified: boolean };

export interface CheckedExpr {
  readonly expr: Expr;
  readonly ids: NodeIds;
  typeOf(expr: Expr): CelType;
  referenceOf(expr: Expr): Reference | undefined;
  /** The declared variables that the expression uses. */
  readonly variables: ReadonlySet<string>;
}

export interface CheckOptions {
  readonly environment: CelEnvironment;
  readonly variables: Readonly<Record<string, CelType>>;
  readonly resolveType?: TypeResolver | undefined;
}

export interface CheckResult {
  readonly checked: CheckedExpr;
  readonly issues: readonly Issue[];
}

/** Resolves the type of every node, and what every name and call refers to. */
export function check(expr: Expr, ids: NodeIds, options: CheckOptions): CheckResult {
  const checker = new Checker(ids, options);
  checker.visit(expr);
  return { checked: checker.result(expr), issues: checker.issues };
}

type Scope = ReadonlyMap<string, CelType>;

// One file: the rules of all kinds of expressions call each other.
class Checker {
  readonly issues: Issue[] = [];
  private readonly ids: NodeIds;
  private readonly options: CheckOptions;
  private readonly types: CelType[] = [];
  private readonly references = new Map<number, Reference>();
  private readonly variables = new Set<string>();
  private readonly substitution = new Substitution();
  private scopes: readonly Scope[] = [];

  constructor(ids: NodeIds, options: CheckOptions) {
    this.ids = ids;
    this.options = options;
  }

  result(expr: Expr): CheckedExpr {
    const types = this.types.map((type) => this.substitution.apply(type, true));
    const { references, variables, ids } = this;
    return {
      expr,
      ids,
      variables,
      typeOf: (node) => types[node.id] ?? DYN,
      referenceOf: (node) => references.get(node.id),
    };
  }

  visit(expr: Expr): CelType {
    const cached = this.types[expr.id];
    if (cached !== undefined) return cached;
    const type = this.typeOfNode(expr);
    this.types[expr.id] = type;
    return type;
  }

  private typeOfNode(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return typeOf(expr.value);
      case 'ident':
        return this.ident(expr.id, expr.name);
      case 'select':
        return this.select(expr);
      case 'call':
        return this.call(expr);
      case 'list':
        return this.list(expr);
      case 'map':
        return this.map(expr);
      case 'struct':
        return this.struct(expr);
      case 'comprehension':
        return this.comprehension(expr);
    }
  }

  private report(id: number, message: string): void {
    this.issues.push({ message, location: this.ids.locationOf(id) });
  }

  private undeclared(id: number, name: string): CelType {
    this.report(id, `undeclared reference to '${name}' (in container '')`);
    return ERROR;
  }

  private ident(id: number, name: string): CelType {
    return this.lookUp(id, name) ?? this.undeclared(id, name);
  }

  /** The type of a name, if it has one; notes what the node refers to. */
  private lookUp(id: number, name: string): CelType | undefined {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const type = this.scopes[i]?.get(name);
      if (type !== undefined) {
        this.references.set(id, { kind: 'local', name });
        return type;
      }
    }
    return this.lookUpGlobal(id, name.startsWith('.') ? name.slice(1) : name);
  }

  private lookUpGlobal(id: number, name: string): CelType | undefined {
    const { environment, variables, resolveType } = this.options;
    if (Object.hasOwn(variables, name)) {
      this.references.set(id, { kind: 'variable', name });
      this.variables.add(name);
      return variables[name];
    }
    const declared = environment.findTypeName(name) ?? wrapType(resolveType?.(name));
    if (declared !== undefined) this.references.set(id, { kind: 'type', type: param(declared, 0) });
    return declared;
  }

  private select(expr: SelectExpr): CelType {
    const name = qualifiedName(expr);
    const type = name?.includes('.') === true ? this.lookUp(expr.id, name) : undefined;
    if (type !== undefined) return type;
    const operand = this.visit(expr.operand);
    const field = this.fieldType(expr.id, operand, { name: expr.field, optional: false });
    return expr.testOnly ? BOOL : this.substitution.apply(field);
  }

  private fieldType(id: number, operand: CelType, field: { readonly name: string; readonly optional: boolean }): CelType {
    const resolved = this.substitution.apply(operand);
    const result = this.plainFieldType(id, unwrapOptional(resolved), field.name);
    return field.optional || isOptionalType(resolved) ? optionalType(result) : result;
  }

  private plainFieldType(id: number, target: CelType, name: string): CelType {
    switch (target.kind) {
      case 'map':
        return param(target, 1);
      case 'struct':
        return this.structFieldType(id, target, name);
      case 'param':
        this.substitution.isAssignable(DYN, target);
        return DYN;
      default:
        if (!target.isDynamic && target.kind !== 'error') {
          this.report(id, `type '${formatType(target)}' does not support field selection`);
        }
        return DYN;
    }
  }

  private structFieldType(id: number, type: CelType, name: string): CelType {
    const { fields } = type.traits;
    const field = fields?.(name);
    if (field === undefined) this.report(id, fields ? `undefined field '${name}'` : `unexpected failed resolution of '${type.name}'`);
    return field?.type ?? ERROR;
  }

  private call(expr: CallExpr): CelType {
    if (expr.function === '_?._') return this.optionalSelect(expr);
    for (const arg of expr.args) this.visit(arg);
    if (expr.target === undefined) {
      const decl = this.findFunction(expr.function);
      return decl === undefined ? this.undeclared(expr.id, expr.function) : this.resolve(expr, decl, { isQualified: false });
    }
    const prefix = qualifiedName(expr.target);
    const qualified = prefix === undefined ? undefined : this.findFunction(`${prefix}.${expr.function}`);
    if (qualified !== undefined) return this.resolve(expr, qualified, { isQualified: true });
    this.visit(expr.target);
    const decl = this.findFunction(expr.function);
    return decl === undefined ? this.undeclared(expr.id, expr.function) : this.resolve(expr, decl, { isQualified: false });
  }

  private findFunction(name: string): FunctionDecl | undefined {
    return this.options.environment.findFunction(name.startsWith('.') ? name.slice(1) : name);
  }

  private optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args;
    const decl = this.findFunction('_?._');
    if (operand === undefined || field?.kind !== 'literal' || typeof field.value !== 'string' || decl === undefined) {
      return this.undeclared(expr.id, '_?._');
    }
    const type = this.fieldType(expr.id, this.visit(operand), { name: field.value, optional: true });
    this.references.set(expr.id, { kind: 'function', decl, overloads: decl.overloads, isQualified: false });
    return this.substitution.apply(type);
  }

  private resolve(expr: CallExpr, decl: FunctionDecl, call: { readonly isQualified: boolean }): CelType {
    const isMethod = expr.target !== undefined && !call.isQualified;
    if (decl.name === '_&&_' || decl.name === '_||_') return this.resolveLogical(expr, decl);
    const argExprs = isMethod && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args;
    const args = argExprs.map((arg) => this.types[arg.id] ?? DYN);
    const { overloads, result } = this.matchOverloads(decl, args, isMethod);
    if (result === undefined) {
      const actual = args.map((arg) => this.substitution.apply(arg, true));
      this.report(expr.id, `found no matching overload for '${decl.name}' applied to '${formatSignature(actual, isMethod)}'`);
      return ERROR;
    }
    this.references.set(expr.id, { kind: 'function', decl, overloads, isQualified: call.isQualified });
    return result;
  }

  private matchOverloads(decl: FunctionDecl, args: readonly CelType[], isMethod: boolean) {
    const overloads: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of decl.overloads) {
      if (overload.isMethod !== isMethod) continue;
      const matched = this.tryOverload(overload, args);
      if (matched === undefined) continue;
      overloads.push(overload);
      result = result === undefined || isSameType(result, matched) ? matched : DYN;
    }
    return { overloads, result };
  }

  private tryOverload(overload: Overload, args: readonly CelType[]): CelType | undefined {
    const replacements = new Map(overload.typeParams.map((name) => [name, this.substitution.fresh()]));
    const parameters = replacements.size === 0 ? overload.args : overload.args.map((arg) => replaceParams(arg, replacements));
    if (!this.substitution.areAssignable(args, parameters)) return undefined;
    return this.substitution.apply(replacements.size === 0 ? overload.result : replaceParams(overload.result, replacements));
  }

  private resolveLogical(expr: CallExpr, decl: FunctionDecl): CelType {
    let valid = true;
    for (const arg of expr.args) {
      const type = this.types[arg.id] ?? DYN;
      if (this.substitution.isAssignable(type, BOOL)) continue;
      valid = false;
      this.mismatch(arg.id, BOOL, type);
    }
    if (!valid) return ERROR;
    this.references.set(expr.id, { kind: 'function', decl, overloads: decl.overloads, isQualified: false });
    return BOOL;
  }

  private mismatch(id: number, expected: CelType, actual: CelType): void {
    this.report(id, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  }

  /** The element type of an optional entry: `[?x]` takes an optional and contributes its value. */
  private entryType(expr: Expr, optional: boolean): CelType {
    const type = this.types[expr.id] ?? DYN;
    if (!optional) return type;
    const inner = unwrapOptional(type);
    if (!isOptionalType(type) && !type.isDynamic) this.mismatch(expr.id, optionalType(inner), inner);
    return inner;
  }

  private join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.substitution.isAssignable(previous, current) ? mostGeneral(previous, current) : DYN;
  }

  private list(expr: ListExpr): CelType {
    let element: CelType | undefined;
    expr.elements.forEach((item, i) => {
      this.visit(item);
      element = this.join(element, this.entryType(item, expr.optionals.has(i)));
    });
    return boundedType(listType(element ?? this.substitution.fresh()));
  }

  private map(expr: MapExpr): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      key = this.join(key, this.visit(entry.key));
      this.visit(entry.value);
      value = this.join(value, this.entryType(entry.value, entry.optional));
    }
    return boundedType(mapType(key ?? this.substitution.fresh(), value ?? this.substitution.fresh()));
  }

  private struct(expr: StructExpr): CelType {
    const ident = this.lookUp(expr.id, expr.typeName);
    if (ident === undefined) return this.undeclared(expr.id, expr.typeName);
    const type = this.constructedType(expr, ident);
    for (const field of expr.fields) {
      this.visit(field.value);
      const fieldType = type.kind === 'struct' ? this.structFieldType(field.id, type, field.name) : ERROR;
      const actual = this.entryType(field.value, field.optional);
      if (this.substitution.isAssignable(fieldType, actual)) continue;
      this.report(
        field.id,
        `expected type of field '${field.name}' is '${formatType(fieldType)}' but provided type is '${formatType(actual)}'`,
      );
    }
    return type;
  }

  private constructedType(expr: StructExpr, ident: CelType): CelType {
    if (ident.kind !== 'type') {
      this.report(expr.id, `'${ident.name}' is not a type`);
      return ERROR;
    }
    const type = param(ident, 0);
    if (type.kind !== 'struct') {
      this.report(expr.id, `'${type.name}' is not a message type`);
      return ERROR;
    }
    this.references.set(expr.id, { kind: 'struct', type });
    return type;
  }

  private comprehension(expr: ComprehensionExpr): CelType {
    this.visit(expr.range);
    const accumulator = this.visit(expr.accuInit);
    const range = this.substitution.apply(this.types[expr.range.id] ?? DYN);
    const outer = this.scopes;
    const withAccumulator = [...outer, new Map([[expr.accuVar, accumulator]])];
    this.scopes = [...withAccumulator, this.loopVariables(expr, range)];
    this.assertType(expr.condition, BOOL);
    this.assertType(expr.step, accumulator);
    this.scopes = withAccumulator;
    const result = this.visit(expr.result);
    this.scopes = outer;
    return this.substitution.apply(result);
  }

  private assertType(expr: Expr, expected: CelType): void {
    const actual = this.visit(expr);
    if (!this.substitution.isAssignable(expected, actual)) this.mismatch(expr.id, expected, actual);
  }

  private loopVariables(expr: ComprehensionExpr, range: CelType): Scope {
    const { first, second } = this.loopTypes(expr, range);
    const scope = new Map([[expr.iterVar, first]]);
    if (expr.iterVar2 !== undefined) scope.set(expr.iterVar2, second);
    return scope;
  }

  private loopTypes(expr: ComprehensionExpr, range: CelType): { readonly first: CelType; readonly second: CelType } {
    switch (range.kind) {
      case 'list':
        return expr.iterVar2 === undefined ? { first: param(range, 0), second: DYN } : { first: INT, second: param(range, 0) };
      case 'map':
        return { first: param(range, 0), second: param(range, 1) };
      case 'dyn':
      case 'any':
      case 'error':
      case 'param':
        this.substitution.isAssignable(DYN, range);
        return { first: DYN, second: DYN };
      default:
        this.report(
          expr.range.id,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return { first: ERROR, second: ERROR };
    }
  }
}

function wrapType(type: CelType | undefined): CelType | undefined {
  return type === undefined ? undefined : typeType(type);
}
