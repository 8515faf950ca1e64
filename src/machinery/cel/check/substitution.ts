import { boundedType, CelType, DYN, isSameType, listType, mapType, param, typeType } from '../types.ts';

const NULLABLE_KINDS: ReadonlySet<string> = new Set(['opaque', 'struct', 'any', 'duration', 'timestamp']);

/** The bindings of type parameters in one expression. Trying an assignment may bind parameters; a failed attempt is rolled back. */
export class Substitution {
  private readonly bound = new Map<string, CelType>();
  private readonly journal: { readonly name: string; readonly previous: CelType | undefined }[] = [];
  private nextParam = 0;

  fresh(): CelType {
    return new CelType('param', `_var${this.nextParam++}`);
  }

  /** Whether a value of type `a` is assignable to `b`. Binds parameters of either. */
  isAssignable(a: CelType, b: CelType): boolean {
    return this.attempt(() => this.assign(a, b));
  }

  areAssignable(a: readonly CelType[], b: readonly CelType[]): boolean {
    return this.attempt(() => this.assignAll(a, b));
  }

  /** The type with bindings substituted; unbound parameters become `dyn` on request. */
  apply(type: CelType, unboundToDyn = false): CelType {
    if (type.kind === 'param') {
      const binding = this.bound.get(type.name);
      if (binding !== undefined) return this.apply(binding, unboundToDyn);
      return unboundToDyn ? DYN : type;
    }
    if (!type.hasParams) return type;
    const params = type.params.map((p) => this.apply(p, unboundToDyn));
    if (params.every((p, i) => p === type.params[i])) return type;
    return boundedType(new CelType(type.kind, type.name, { params, traits: type.traits }));
  }

  private attempt(action: () => boolean): boolean {
    const mark = this.journal.length;
    const succeeded = action();
    if (!succeeded) this.rollBack(mark);
    return succeeded;
  }

  private rollBack(mark: number): void {
    while (this.journal.length > mark) {
      const change = this.journal.pop();
      if (change?.previous !== undefined) this.bound.set(change.name, change.previous);
      else if (change !== undefined) this.bound.delete(change.name);
    }
  }

  private bind(parameter: CelType, type: CelType): void {
    this.journal.push({ name: parameter.name, previous: this.bound.get(parameter.name) });
    this.bound.set(parameter.name, type);
  }

  private assign(a: CelType, b: CelType): boolean {
    if (b.kind === 'param') {
      const outcome = this.substitute(a, b);
      if (outcome === 'valid') return true;
      if (outcome === 'conflict') return false;
    }
    if (a.kind === 'param') return this.substitute(b, a) === 'valid';
    if (isWildcard(a) || isWildcard(b)) return true;
    if (a.kind === 'null') return isNullable(b);
    if (b.kind === 'null') return isNullable(a);
    if (a.kind !== b.kind) return false;
    if (a.kind === 'type') return true;
    return a.name === b.name && this.assignAll(a.params, b.params);
  }

  private assignAll(a: readonly CelType[], b: readonly CelType[]): boolean {
    return a.length === b.length && a.every((type, i) => this.assign(type, b[i] ?? DYN));
  }

  /** Tries to bind the parameter to the type. `conflict`: it is already bound to another. */
  private substitute(type: CelType, parameter: CelType): 'valid' | 'conflict' | 'invalid' {
    if (isSameType(type, parameter)) return 'valid';
    const binding = this.bound.get(parameter.name);
    if (binding !== undefined) return this.widen(type, parameter, binding) ? 'valid' : 'conflict';
    if (!this.isFreeOf(parameter, type)) return 'invalid';
    this.bind(parameter, type);
    return 'valid';
  }

  private widen(type: CelType, parameter: CelType, binding: CelType): boolean {
    if (isSameType(type, binding)) return true;
    if (!this.assign(type, binding)) return false;
    const general = mostGeneral(type, binding);
    if (this.isFreeOf(parameter, general)) this.bind(parameter, general);
    return true;
  }

  /** Whether the parameter does not occur in the type, directly or through bindings. */
  private isFreeOf(parameter: CelType, type: CelType): boolean {
    if (isSameType(parameter, type)) return false;
    if (type.kind === 'param') {
      const binding = this.bound.get(type.name);
      return binding === undefined || this.isFreeOf(parameter, binding);
    }
    return type.params.every((p) => this.isFreeOf(parameter, p));
  }
}

function isWildcard(type: CelType): boolean {
  return type.isDynamic || type.kind === 'error';
}

function isNullable(type: CelType): boolean {
  return NULLABLE_KINDS.has(type.kind) || type.kind === 'null' || type.isDynamic;
}

/** The more general of two compatible types. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return isLessSpecific(a, b) ? a : b;
}

function isLessSpecific(a: CelType, b: CelType): boolean {
  if (a.isDynamic || a.kind === 'param') return true;
  if (b.isDynamic || b.kind === 'param' || a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'type':
      return true;
    case 'opaque':
    case 'list':
    case 'map':
      return a.name === b.name && a.params.length === b.params.length && a.params.every((p, i) => isLessSpecific(p, param(b, i)));
    default:
      return isSameType(a, b);
  }
}

/** A type with fresh parameters, for each call of an overload. */
export function replaceParams(type: CelType, replacements: ReadonlyMap<string, CelType>): CelType {
  if (!type.hasParams) return type;
  switch (type.kind) {
    case 'param':
      return replacements.get(type.name) ?? type;
    case 'list':
      return listType(replaceParams(param(type, 0), replacements));
    case 'map':
      return mapType(replaceParams(param(type, 0), replacements), replaceParams(param(type, 1), replacements));
    case 'type':
      return type.params.length === 0 ? type : typeType(replaceParams(param(type, 0), replacements));
    default:
      if (type.params.length === 0) return type;
      return new CelType(type.kind, type.name, { params: type.params.map((p) => replaceParams(p, replacements)), traits: type.traits });
  }
}
