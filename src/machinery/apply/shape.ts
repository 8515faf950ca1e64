import type { JsonValue } from '../json/json-value.ts';
import type { Field, ListSchema, ObjectSchema, ScalarType, Schema } from '../schema.ts';
import { compareBytes } from '../values/go-format.ts';
import { encodeValue, fieldElement, type PathElement } from './path-element.ts';

/** A schema as seen by apply: the kinds of values a field may have. A field without a schema may have several; the value selects one. */
export interface Shape {
  readonly scalar?: ScalarCheck;
  readonly map?: MapShape;
  readonly list?: ListShape;
}

export type ScalarCheck = 'string' | 'numeric' | 'boolean' | 'untyped';

/** Objects and maps alike: declared fields, and what other keys may hold. */
export interface MapShape {
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, FieldShape>;
  /** Undefined when only the declared fields may be there. */
  readonly values: Shape | undefined;
}

export interface FieldShape {
  readonly element: PathElement;
  readonly shape: Shape;
  readonly field: Field;
}

export interface ListShape {
  readonly atomic: boolean;
  /** Of a list of items with keys: sorted by name. Undefined for sets and atomic lists. */
  readonly keys: readonly KeyShape[] | undefined;
  /** The keys in the order of their declaration, for messages. */
  readonly keyNames: readonly string[];
  readonly items: Shape;
}

export interface KeyShape {
  readonly name: string;
  /** `"name":` as the path element starts. */
  readonly prefix: string;
  /** Replaces an absent key: the whole member, `"protocol":"TCP"`. */
  readonly defaultMember?: string;
}

const NO_FIELDS: ReadonlyMap<string, FieldShape> = new Map();

// Values without a schema: owned as a whole, or (deduced) maps field by field and lists as a whole.
const UNTYPED_ATOMIC: Shape = {
  scalar: 'untyped',
  get map() {
    return UNTYPED_MAP;
  },
  get list() {
    return UNTYPED_LIST;
  },
};
const UNTYPED_MAP: MapShape = { atomic: true, fields: NO_FIELDS, values: UNTYPED_ATOMIC };
const UNTYPED_LIST: ListShape = { atomic: true, keys: undefined, keyNames: [], items: UNTYPED_ATOMIC };
/**
 * Maps without a schema are owned field by field to this depth, and as a whole below. Bounds the depth of every set, so code on sets and shapes may
 * recurse.
 */
const MAX_DEDUCED_DEPTH = 500;

class DeducedMap implements MapShape {
  readonly atomic = false;
  readonly fields = NO_FIELDS;
  readonly #depth: number;
  #values: Shape | undefined;

  constructor(depth: number) {
    this.#depth = depth;
  }

  get values(): Shape {
    this.#values ??= this.#depth < MAX_DEDUCED_DEPTH ? deduced(new DeducedMap(this.#depth + 1)) : UNTYPED_ATOMIC;
    return this.#values;
  }
}

function deduced(map: MapShape): Shape {
  return { scalar: 'untyped', list: UNTYPED_LIST, map };
}

const DEDUCED_MAP: MapShape = new DeducedMap(1);
const DEDUCED: Shape = deduced(DEDUCED_MAP);

/** Whether the map's content has no schema at all. */
export function isDeducedMap(map: MapShape): boolean {
  return map instanceof DeducedMap || (map.values === DEDUCED && map.fields.size === 0);
}

/** Whether any value is allowed. */
export function isUntyped(shape: Shape): boolean {
  return shape === UNTYPED_ATOMIC || (shape.scalar === 'untyped' && shape.map instanceof DeducedMap);
}

const SCALARS: Readonly<Record<ScalarType, Shape>> = {
  string: { scalar: 'string' },
  bytes: { scalar: 'string' },
  int32: { scalar: 'numeric' },
  int64: { scalar: 'numeric' },
  double: { scalar: 'numeric' },
  bool: { scalar: 'boolean' },
  quantity: { scalar: 'untyped' },
  time: { scalar: 'untyped' },
  microTime: { scalar: 'untyped' },
  duration: { scalar: 'string' },
  intOrString: { scalar: 'untyped' },
};

// Shapes are created once per schema. Below a schema that preserves unknown fields all objects preserve them, hence two tables.
const declaredShapes = new WeakMap<Schema, Shape>();
const preservingShapes = new WeakMap<Schema, Shape>();

export function shapeOf(schema: Schema, preserve = false): Shape {
  const cached = preserve ? preservingShapes : declaredShapes;
  let shape = cached.get(schema);
  if (shape === undefined) {
    shape = compile(schema, preserve);
    cached.set(schema, shape);
  }
  return shape;
}

function compile(schema: Schema, preserve: boolean): Shape {
  switch (schema.type) {
    case 'object':
      return { map: new ObjectShape(schema, preserve || schema.preserveUnknown) };
    case 'list':
      return { list: new ItemsShape(schema, preserve) };
    case 'map':
      return { map: { atomic: schema.atomic, fields: NO_FIELDS, values: shapeOf(schema.values, preserve) } };
    case 'any':
      if (schema.name.endsWith('.RawExtension')) return UNTYPED_ATOMIC;
      return schema.objectOnly ? { map: DEDUCED_MAP } : DEDUCED;
    default:
      return SCALARS[schema.type];
  }
}

// Fields are compiled on first use, since a schema may contain itself.
class ObjectShape implements MapShape {
  readonly atomic: boolean;
  private compiled: ReadonlyMap<string, FieldShape> | undefined;

  constructor(
    private readonly schema: ObjectSchema,
    private readonly preserve: boolean,
  ) {
    this.atomic = schema.atomic;
  }

  get fields(): ReadonlyMap<string, FieldShape> {
    this.compiled ??= new Map(this.schema.fields.map((field) => [field.name, this.fieldShape(field)]));
    return this.compiled;
  }

  get values(): Shape | undefined {
    return this.preserve || this.schema.fields.length === 0 ? DEDUCED : undefined;
  }

  private fieldShape(field: Field): FieldShape {
    return { element: fieldElement(field.name), shape: shapeOf(field.schema, this.preserve), field };
  }
}

class ItemsShape implements ListShape {
  readonly atomic: boolean;
  readonly items: Shape;
  readonly keyNames: readonly string[];
  private compiledKeys: readonly KeyShape[] | undefined;

  constructor(
    private readonly schema: ListSchema,
    preserve: boolean,
  ) {
    this.atomic = schema.listType === 'atomic';
    this.items = shapeOf(schema.items, preserve);
    this.keyNames = schema.keys;
  }

  get keys(): readonly KeyShape[] | undefined {
    if (this.schema.listType !== 'map') return undefined;
    this.compiledKeys ??= [...this.schema.keys].sort(compareBytes).map((name) => keyShape(this.schema, name));
    return this.compiledKeys;
  }
}

function keyShape(list: ListSchema, name: string): KeyShape {
  const field = list.items.type === 'object' ? list.items.fieldsByName.get(name) : undefined;
  const value = field === undefined ? undefined : keyDefault(field);
  const prefix = `${encodeValue(name)}:`;
  return { name, prefix, ...(value !== undefined && { defaultMember: `${prefix}${encodeValue(value)}` }) };
}

// A built-in scalar without omitempty has its zero value when a client leaves it out.
function keyDefault(field: Field): JsonValue | undefined {
  if (field.default !== undefined) return field.default as JsonValue;
  return field.presence === 'always' ? zeroScalar(field.schema) : undefined;
}

function zeroScalar(schema: Schema): JsonValue | undefined {
  switch (schema.type) {
    case 'string':
    case 'bytes':
      return '';
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'bool':
      return false;
    case 'quantity':
      return '0';
    default:
      return undefined;
  }
}

/** An object of this type with nothing set, compared with new objects. Has the always-encoded fields. */
export function emptyObject(schema: ObjectSchema): Readonly<Record<string, JsonValue>> {
  let empty = emptyObjects.get(schema);
  if (empty === undefined) {
    empty = Object.fromEntries(schema.fields.flatMap((field) => presentWhenEmpty(field)));
    emptyObjects.set(schema, empty);
  }
  return empty;
}
const emptyObjects = new WeakMap<ObjectSchema, Readonly<Record<string, JsonValue>>>();

function presentWhenEmpty(field: Field): [string, JsonValue][] {
  if (field.presence === 'nullable') return [[field.name, null]];
  if (field.presence !== 'always') return [];
  if (field.schema.type === 'object') return [[field.name, emptyObject(field.schema)]];
  return [[field.name, zeroScalar(field.schema) ?? null]];
}
