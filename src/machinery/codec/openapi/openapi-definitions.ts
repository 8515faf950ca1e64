import { lookupTable, runSteps } from '#base';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../json/json-value.ts';
import type { Field, GroupVersionKind, ListSchema, MapSchema, ObjectSchema, ScalarSchema, Schema, Union } from '../../schema.ts';

export type OpenApiVersion = 2 | 3;

export interface OpenApiDefinitionsOptions {
  readonly version: OpenApiVersion;
  /** The kinds that a type is, by the type's name: types that are kinds (Pod, PodList, Status, DeleteOptions) say so. */
  readonly kinds?: ReadonlyMap<string, readonly GroupVersionKind[]>;
  /** The values of a string type by its Go name, if the document lists them. */
  readonly enumOf?: (goName: string) => readonly string[] | undefined;
}

/** Scalars that have a definition of their own, which fields refer to. */
const NAMED_SCALARS = {
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  time: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  microTime: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
  duration: 'io.k8s.apimachinery.pkg.apis.meta.v1.Duration',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
} as const;
type NamedScalar = keyof typeof NAMED_SCALARS;

const NAMED_SCALAR_TEXTS: Readonly<Record<NamedScalar, string>> = {
  quantity: 'A fixed-point number with an optional suffix: 100m, 1.5Gi, 2e3.',
  time: 'A time in RFC 3339, to the second.',
  microTime: 'A time in RFC 3339, to the microsecond.',
  duration: 'A span of time, such as 1m30s.',
  intOrString: 'An integer or a string.',
};

const INLINE_SCALARS = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
} as const;

const INLINE_ZEROS = lookupTable<JsonValue>({ string: '', bool: false, int32: 0, int64: 0, double: 0 });

/** Where the definitions stand in a document. */
export function definitionRef(version: OpenApiVersion, name: string): string {
  return `${version === 2 ? '#/definitions/' : '#/components/schemas/'}${name}`;
}

/** The OpenAPI definitions of the given types and of all that they refer to, by name. */
export function openapiDefinitions(roots: Iterable<ObjectSchema>, options: OpenApiDefinitionsOptions): Record<string, JsonObject> {
  return runSteps(openapiDefinitionSteps(roots, options));
}

/** The same, definition by definition: all types of the API take longer than one turn of the event loop may. */
export function* openapiDefinitionSteps(
  roots: Iterable<ObjectSchema>,
  options: OpenApiDefinitionsOptions,
): Generator<void, Record<string, JsonObject>> {
  const types = new TypeCollector();
  for (const root of roots) {
    types.add(root);
    yield;
  }
  const writer = new DefinitionWriter(options, types.objects);
  const definitions: [string, JsonObject][] = [];
  for (const schema of types.objects.values()) {
    definitions.push([schema.name, writer.object(schema)]);
    yield;
  }
  for (const [name, objectOnly] of types.opaque) definitions.push([name, objectOnly ? { type: 'object' } : {}]);
  for (const scalar of types.scalars) definitions.push([NAMED_SCALARS[scalar], writer.namedScalar(scalar)]);
  return Object.fromEntries(definitions.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Finds every type that has a name. */
class TypeCollector {
  readonly objects = new Map<string, ObjectSchema>();
  /** Types of any content, and whether it must be an object. */
  readonly opaque = new Map<string, boolean>();
  readonly scalars = new Set<NamedScalar>();

  add(schema: Schema): void {
    switch (schema.type) {
      case 'object':
        this.addObject(schema);
        break;
      case 'list':
        this.add(schema.items);
        break;
      case 'map':
        this.add(schema.values);
        break;
      case 'any':
        if (schema.name.includes('.')) this.opaque.set(schema.name, schema.objectOnly);
        break;
      default:
        if (schema.type in NAMED_SCALARS) this.scalars.add(schema.type as NamedScalar);
    }
  }

  private addObject(schema: ObjectSchema): void {
    const existing = this.objects.get(schema.name);
    // A field may relax an atomic type.
    if (existing === undefined || (schema.atomic && !existing.atomic)) this.objects.set(schema.name, schema);
    if (existing === undefined) for (const field of schema.fields) this.add(field.schema);
  }
}

class DefinitionWriter {
  private readonly version: OpenApiVersion;
  private readonly kinds: ReadonlyMap<string, readonly GroupVersionKind[]>;
  private readonly enumOf: (goName: string) => readonly string[] | undefined;
  private readonly objects: ReadonlyMap<string, ObjectSchema>;

  constructor(
    { version, kinds = new Map(), enumOf = () => undefined }: OpenApiDefinitionsOptions,
    objects: ReadonlyMap<string, ObjectSchema>,
  ) {
    this.version = version;
    this.kinds = kinds;
    this.enumOf = enumOf;
    this.objects = objects;
  }

  object(schema: ObjectSchema): JsonObject {
    const required = schema.fields.filter((field) => field.required).map((field) => field.name);
    const kinds = this.kinds.get(schema.name);
    return {
      ...described(schema.description),
      type: 'object',
      ...(schema.fields.length > 0 && { properties: this.properties(schema) }),
      ...(required.length > 0 && { required }),
      ...(schema.atomic && { 'x-kubernetes-map-type': 'atomic' }),
      ...(schema.preserveUnknown && { 'x-kubernetes-preserve-unknown-fields': true }),
      ...(schema.union && { 'x-kubernetes-unions': [unionText(schema.union)] }),
      ...(kinds && { 'x-kubernetes-group-version-kind': kinds.map(({ group, kind, version }) => ({ group, kind, version })) }),
    };
  }

  private properties(schema: ObjectSchema): JsonObject {
    const properties: MutableJsonObject = {};
    const sorted = schema.fields.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    for (const field of sorted) properties[field.name] = this.property(field);
    return properties;
  }

  private property(field: Field): JsonObject {
    const { schema, patchStrategies, patchMergeKey, bytesListType } = field;
    const siblings: JsonObject = {
      ...described(field.description),
      ...this.defaultOf(field),
      ...(bytesListType && { 'x-kubernetes-list-type': bytesListType }),
      ...(patchMergeKey && { 'x-kubernetes-patch-merge-key': patchMergeKey }),
      ...(patchStrategies.length > 0 && { 'x-kubernetes-patch-strategy': patchStrategies.join(',') }),
    };
    return this.value(schema, siblings);
  }

  /** Only version 3 publishes defaults. */
  private defaultOf({ default: published, presence, schema }: Field): JsonObject {
    if (this.version === 2) return {};
    if (published !== undefined) return { default: published as JsonValue };
    return presence === 'always' ? zeroDefault(schema) : {};
  }

  private value(schema: Schema, siblings: JsonObject): JsonObject {
    switch (schema.type) {
      case 'object':
        return this.reference(schema.name, { ...siblings, ...this.looseness(schema) });
      case 'list':
        return { ...siblings, ...this.list(schema) };
      case 'map':
        return { ...siblings, ...this.map(schema) };
      case 'any':
        return schema.name.includes('.') ? this.reference(schema.name, siblings) : siblings;
      default:
        return this.scalar(schema, siblings);
    }
  }

  private scalar({ type, goName }: ScalarSchema, siblings: JsonObject): JsonObject {
    if (type in NAMED_SCALARS) return this.reference(NAMED_SCALARS[type as NamedScalar], siblings);
    return { ...siblings, ...INLINE_SCALARS[type as keyof typeof INLINE_SCALARS], ...this.enumeration(goName) };
  }

  private enumeration(goName: string | undefined): JsonObject {
    const values = goName === undefined ? undefined : this.enumOf(goName);
    return values === undefined ? {} : { enum: values };
  }

  // Version 3 does not allow anything beside a reference, so it is wrapped.
  private reference(name: string, siblings: JsonObject): JsonObject {
    const $ref = definitionRef(this.version, name);
    const isAlone = Object.keys(siblings).length === 0;
    return this.version === 2 || isAlone ? { ...siblings, $ref } : { ...siblings, allOf: [{ $ref }] };
  }

  private looseness(schema: ObjectSchema): JsonObject {
    const isLoosened = !schema.atomic && this.objects.get(schema.name)?.atomic;
    return isLoosened ? { 'x-kubernetes-map-type': 'granular' } : {};
  }

  private list({ items, listType, keys, unmarked }: ListSchema): JsonObject {
    return {
      type: 'array',
      items: this.element(items),
      ...(!unmarked && { 'x-kubernetes-list-type': listType }),
      ...(listType === 'map' && { 'x-kubernetes-list-map-keys': keys }),
    };
  }

  private map({ values, atomic, granular, goName }: MapSchema): JsonObject {
    const mapType = atomic ? 'atomic' : granular ? 'granular' : undefined;
    const additionalProperties = { ...this.element(values), ...this.enumeration(goName) };
    return { type: 'object', additionalProperties, ...(mapType && { 'x-kubernetes-map-type': mapType }) };
  }

  private element(schema: Schema): JsonObject {
    return this.value(schema, this.version === 3 ? zeroDefault(schema) : {});
  }

  namedScalar(scalar: NamedScalar): JsonObject {
    return { ...described(NAMED_SCALAR_TEXTS[scalar]), ...(this.version === 2 ? SCALARS_V2[scalar] : SCALARS_V3[scalar]) };
  }
}

const SCALARS_V2: Readonly<Record<NamedScalar, JsonObject>> = {
  quantity: { type: 'string' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  duration: { type: 'string' },
  intOrString: { type: 'string', format: 'int-or-string' },
};

const SCALARS_V3: Readonly<Record<NamedScalar, JsonObject>> = {
  ...SCALARS_V2,
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  intOrString: { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
};

/** Fields are called as in Go where they are values of the discriminator. */
function unionText({ discriminator, fields }: Union): JsonObject {
  const byValue = Object.fromEntries(fields.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)]));
  return { ...(discriminator && { discriminator }), 'fields-to-discriminateBy': byValue };
}

function described(description: string): JsonObject {
  return description === '' ? {} : { description };
}

/** The default of a required value: the zero of its type. */
function zeroDefault({ type }: Schema): JsonObject {
  if (type === 'object') return { default: {} };
  const zero = INLINE_ZEROS[type];
  return zero === undefined ? {} : { default: zero };
}
