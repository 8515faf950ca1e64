import { CelBoxed } from './values/boxed.ts';
import type { CelValue } from './values/value.ts';

/** What kind of type a CelType is. `param` is a type parameter of a function; `error` stands for a failed check. */
export type CelKind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  | 'any'
  | 'list'
  | 'map'
  | 'struct'
  | 'opaque'
  | 'type'
  | 'param'
  | 'error';

/** One field of a struct type: its type, and the key under which plain data holds it (which CEL may see escaped). */
export interface CelField {
  readonly type: CelType;
  readonly property: string;
}

export type FieldResolver = (name: string) => CelField | undefined;

/**
 * Attributes of a type beyond its identity. Ignored by type checking, except for `fields`; used to convert plain data to CEL values and for cost
 * estimates.
 */
export interface TypeTraits {
  /** Fields of a struct, looked up by the name that expressions use. */
  readonly fields?: FieldResolver;
  /** The largest size() of a string, bytes, list or map, for cost estimation. */
  readonly maxElements?: number;
  /** The least bytes a value takes when written as JSON, for cardinality estimates. */
  readonly minSerializedSize?: number;
  /** Whether null is a value of the type. Without it null is an error, except for `dyn`. */
  readonly nullable?: boolean;
  /** How two lists compare and add: in order, as sets, or by the keys of their elements. */
  readonly listKind?: 'atomic' | 'set' | 'map';
  /** The keys of the elements of a list of kind `map`, as the plain data names them. */
  readonly listMapKeys?: readonly string[];
  /** Turns plain data into the value; replaces the conversion that the kind implies. */
  readonly convert?: (raw: unknown) => CelValue;
  /** Makes a value of a struct type from the fields of a literal such as `Object{spec: …}`. */
  readonly construct?: (fields: ReadonlyMap<string, CelValue>) => CelValue;
}

const NO_TRAITS: TypeTraits = {};
const NO_PARAMS: readonly CelType[] = [];

/** A type of CEL. It is also a value of CEL: `type(1) == int`. */
export class CelType extends CelBoxed {
  readonly kind: CelKind;
  /** The type's name at run time; parameters are not part of it. */
  readonly name: string;
  readonly params: readonly CelType[];
  readonly traits: TypeTraits;
  /** The number of types it consists of. */
  readonly weight: number;
  /** Whether it is a type parameter or made of some. */
  readonly hasParams: boolean;

  constructor(kind: CelKind, name: string, parts: { params?: readonly CelType[]; traits?: TypeTraits } = {}) {
    super();
    this.kind = kind;
    this.name = name;
    this.params = parts.params ?? NO_PARAMS;
    this.traits = parts.traits ?? NO_TRAITS;
    this.weight = this.params.reduce((sum, p) => sum + p.weight, 1);
    this.hasParams = kind === 'param' || this.params.some((p) => p.hasParams);
  }

  with(traits: TypeTraits): CelType {
    return new CelType(this.kind, this.name, { params: this.params, traits: { ...this.traits, ...traits } });
  }

  get isDynamic(): boolean {
    return this.kind === 'dyn' || this.kind === 'any';
  }
}

// The numbers are the least bytes of each type in JSON, which the API server's estimates use.
export const BOOL = new CelType('bool', 'bool', { traits: { minSerializedSize: 4 } });
export const INT = new CelType('int', 'int', { traits: { minSerializedSize: 1 } });
export const UINT = new CelType('uint', 'uint', { traits: { minSerializedSize: 1 } });
export const DOUBLE = new CelType('double', 'double', { traits: { minSerializedSize: 1 } });
export const STRING = new CelType('string', 'string', { traits: { minSerializedSize: 2 } });
export const BYTES = new CelType('bytes', 'bytes', { traits: { minSerializedSize: 2 } });
export const NULL = new CelType('null', 'null_type', { traits: { minSerializedSize: 4, nullable: true } });
export const TIMESTAMP = new CelType('timestamp', 'google.protobuf.Timestamp', { traits: { minSerializedSize: 12 } });
export const DURATION = new CelType('duration', 'google.protobuf.Duration', { traits: { minSerializedSize: 3 } });
export const DYN = new CelType('dyn', 'dyn', { traits: { minSerializedSize: 1 } });
export const ANY = new CelType('any', 'google.protobuf.Any', { traits: { minSerializedSize: 1 } });
export const ERROR = new CelType('error', 'error');
export const TYPE = new CelType('type', 'type');

export function listType(element: CelType, traits: TypeTraits = {}): CelType {
  return new CelType('list', 'list', { params: [element], traits: { minSerializedSize: 2, ...traits } });
}

export function mapType(key: CelType, value: CelType, traits: TypeTraits = {}): CelType {
  return new CelType('map', 'map', { params: [key, value], traits: { minSerializedSize: 2, ...traits } });
}

const MAX_TYPE_WEIGHT = 1000;

/** The type, or `dyn` if it is too large: `{m: m}` doubles the type of m. */
export function boundedType(type: CelType): CelType {
  return type.weight > MAX_TYPE_WEIGHT ? DYN : type;
}

/** A type known only by name: values can be passed to functions but not inspected. */
export function closedType(name: string, traits: TypeTraits = {}): CelType {
  return new CelType('struct', name, { traits: { minSerializedSize: 2, ...traits } });
}

/** A struct type. `fields` may be a table or a lazy resolver; two struct types with one name are the same type. */
export function objectType(name: string, fields: FieldResolver | Readonly<Record<string, CelType>>, traits: TypeTraits = {}): CelType {
  const resolver = typeof fields === 'function' ? fields : tableResolver(fields);
  return new CelType('struct', name, { traits: { minSerializedSize: 2, ...traits, fields: resolver } });
}

function tableResolver(table: Readonly<Record<string, CelType>>): FieldResolver {
  const fields = new Map<string, CelField>();
  for (const [name, type] of Object.entries(table)) fields.set(name, { type, property: name });
  return (name) => fields.get(name);
}

/** A type whose values can only be passed to functions. */
export function opaqueType(name: string, params: readonly CelType[] = NO_PARAMS): CelType {
  return new CelType('opaque', name, { params });
}

const OPTIONAL_NAME = 'optional_type';

export function optionalType(value: CelType): CelType {
  return new CelType('opaque', OPTIONAL_NAME, { params: [value] });
}

export function typeType(of: CelType): CelType {
  return new CelType('type', 'type', { params: [of] });
}

export function paramType(name: string): CelType {
  return new CelType('param', name);
}

export function functionType(result: CelType, args: readonly CelType[]): CelType {
  return new CelType('opaque', 'function', { params: [result, ...args] });
}

export function isOptionalType(type: CelType): boolean {
  return type.kind === 'opaque' && type.name === OPTIONAL_NAME;
}

/** The type inside an optional, or the type itself. */
export function unwrapOptional(type: CelType): CelType {
  return isOptionalType(type) ? param(type, 0) : type;
}

export function param(type: CelType, index: number): CelType {
  return type.params[index] ?? DYN;
}

export function elementType(type: CelType): CelType {
  return type.kind === 'map' ? param(type, 1) : param(type, 0);
}

/** A type as error messages print it. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'any':
      return 'any';
    case 'duration':
      return 'duration';
    case 'timestamp':
      return 'timestamp';
    case 'null':
      return 'null';
    case 'error':
      return '!error!';
    default:
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(', ')})`;
  }
}

/** A call's argument types as error messages print them: `(int, string)`, or `string.(int)` for a method. */
export function formatSignature(args: readonly CelType[], isMethod: boolean): string {
  const texts = args.map(formatType);
  return isMethod ? `${texts[0]}.(${texts.slice(1).join(', ')})` : `(${texts.join(', ')})`;
}

/** Whether two types are the same, names of type parameters included. */
export function isSameType(a: CelType, b: CelType): boolean {
  return compareTypes(a, b, true);
}

/** Whether two types are the same but for the names of type parameters. */
export function isEquivalentType(a: CelType, b: CelType): boolean {
  return compareTypes(a, b, false);
}

function compareTypes(a: CelType, b: CelType, checkParamNames: boolean): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.params.length !== b.params.length) return false;
  if ((checkParamNames || a.kind !== 'param') && a.name !== b.name) return false;
  return a.params.every((p, i) => compareTypes(p, param(b, i), checkParamNames));
}
