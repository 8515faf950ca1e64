import type {
  AnySchema,
  EmbeddedMessage,
  Field,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Presence,
  ResourceInfo,
  ScalarSchema,
  Schema,
  Union,
} from '#machinery';

/**
 * The language in which kinds are defined. A definition reads like the table it is: field name, protobuf number, type, what it means.
 *
 *     export const ConfigMap = kind({ …names… }, 'Configuration that pods read as files or variables.', {
 *       metadata: field(1, ObjectMeta, "Standard object's metadata."),
 *       data: field(2, mapOf(string), 'Text, by key.'),
 *     });
 *     export type ConfigMap = Infer<typeof ConfigMap>;
 */
declare const inferred: unique symbol;

/** A schema that knows the TypeScript type of its values. */
export type Typed<T, S extends Schema = Schema> = S & { readonly [inferred]?: T };
export type Infer<S> = S extends { readonly [inferred]?: infer T } ? Exclude<T, undefined> : never;

interface FieldOptions {
  readonly default?: unknown;
  /** Strategic merge patch: lists merge by this key, or by value when it is ''. */
  readonly merge?: string;
  readonly retainKeys?: boolean;
  readonly patchReplace?: boolean;
  readonly required?: boolean;
  /** Bytes that upstream publishes as a list. */
  readonly bytesListType?: 'atomic';
}

export interface FieldDefinition<T, Required extends boolean> {
  readonly number: number;
  readonly schema: Schema;
  readonly description: string;
  readonly presence: Presence;
  readonly options: FieldOptions;
  readonly embeddedIn?: EmbeddedMessage;
  readonly [inferred]?: T;
  readonly isRequired: Required;
}

// biome-ignore lint/suspicious/noExplicitAny: the widest field definition
export type FieldDefinitions = Record<string, FieldDefinition<any, boolean>>;

export type InferFields<F extends FieldDefinitions> = {
  [K in keyof F as F[K] extends { isRequired: true } ? K : never]: F[K] extends FieldDefinition<infer T, boolean> ? T : never;
} & {
  [K in keyof F as F[K] extends { isRequired: true } ? never : K]?: F[K] extends FieldDefinition<infer T, boolean> ? T : never;
} extends infer O
  ? { [K in keyof O]: O[K] }
  : never;

const scalar = <T>(type: ScalarSchema['type']): Typed<T, ScalarSchema> => ({ type });
export const string = scalar<string>('string');
export const int32 = scalar<number>('int32');
export const int64 = scalar<number>('int64');
export const double = scalar<number>('double');
export const bool = scalar<boolean>('bool');
/** Base64 in JSON. */
export const bytes = scalar<string>('bytes');
export const quantity = scalar<string>('quantity');
/** RFC 3339, to the second. */
export const time = scalar<string>('time');
export const microTime = scalar<string>('microTime');
/** As Go writes it: 1m30s. */
export const duration = scalar<string>('duration');
export const intOrString = scalar<number | string>('intOrString');

/**
 * A type with its own name upstream, visible in errors that clients match:
 * `cannot unmarshal number into Go struct field Container.spec.containers.imagePullPolicy of type v1.PullPolicy`.
 */
export function named(goName: string): Typed<string, ScalarSchema>;
export function named<S extends ListSchema | MapSchema>(goName: string, schema: S): S;
export function named(goName: string, schema: ScalarSchema | ListSchema | MapSchema = string): Schema {
  return { ...schema, goName };
}

export function any<T = unknown>(name: string): Typed<T, AnySchema> {
  return { type: 'any', name, objectOnly: false, proto: 'raw' };
}
/** A schema node, or one of its shorthands. */
export function schemaOr<T>(proto: Exclude<AnySchema['proto'], 'raw'>, name: string, inner: ObjectSchema): Typed<T, AnySchema> {
  return { type: 'any', name, objectOnly: false, proto, inner };
}
export function anyObject(name: string): Typed<Record<string, unknown>, AnySchema> {
  return { type: 'any', name, objectOnly: true, proto: 'raw' };
}

/** A list that apply owns as a whole (atomic). */
export function listOf<T>(items: Typed<T>): Typed<readonly T[], ListSchema> {
  return { type: 'list', items, listType: 'atomic', keys: [] };
}
export function setOf<T>(items: Typed<T>): Typed<readonly T[], ListSchema> {
  return { type: 'list', items, listType: 'set', keys: [] };
}
/** A list whose items are identified by the values of `keys`. */
export function mapListOf<T>(items: Typed<T>, ...keys: string[]): Typed<readonly T[], ListSchema> {
  return { type: 'list', items, listType: 'map', keys };
}
/** An atomic list whose list type OpenAPI omits: lists of objects, and lists with a named type. */
export function unmarkedListOf<T>(items: Typed<T>): Typed<readonly T[], ListSchema> {
  return { type: 'list', items, listType: 'atomic', keys: [], unmarked: true };
}
/** A list that protobuf wraps in a message. */
export function wrappedListOf<T>(items: Typed<T>): Typed<readonly T[], ListSchema> {
  return { type: 'list', items, listType: 'atomic', keys: [], wrapped: true, unmarked: true };
}
export function mapOf<T>(values: Typed<T>): Typed<Readonly<Record<string, T>>, MapSchema> {
  return { type: 'map', values, atomic: false };
}
export function atomicMapOf<T>(values: Typed<T>): Typed<Readonly<Record<string, T>>, MapSchema> {
  return { type: 'map', values, atomic: true };
}

/** A granular map whose type OpenAPI states explicitly. */
export function granularMapOf<T>(values: Typed<T>): Typed<Readonly<Record<string, T>>, MapSchema> {
  return { type: 'map', values, atomic: false, granular: true };
}

function define<R extends boolean>(presence: Presence, isRequired: R) {
  return <T>(number: number, schema: Typed<T>, description = '', options: FieldOptions = {}): FieldDefinition<T, R> => ({
    number,
    schema,
    description,
    presence,
    options,
    isRequired,
  });
}
/** Absent when zero. */
export const field = define('nonzero', false);
/** Undefined if unset; an explicit zero is kept. */
export const pointer = define('set', false);
/** Encoded even when empty. */
export const always = define('always', false);
/** Encoded as null if unset. */
export const nullable = define('nullable', false);
/** Required in the published schema, and encoded even when empty. */
export const required = define('always', true);

/** Fields that are inline in JSON and in an embedded message in protobuf. */
export function inlined<F extends FieldDefinitions>(number: number, schema: DefinedObject<F>): F {
  const name = schema.name.slice(schema.name.lastIndexOf('.') + 1);
  const embed = (f: FieldDefinitions[string]): EmbeddedMessage => ({ number, name, ...(f.embeddedIn && { inner: f.embeddedIn }) });
  return Object.fromEntries(Object.entries(schema.definitions).map(([key, f]) => [key, { ...f, embeddedIn: embed(f) }])) as F;
}

export type DefinedObject<F extends FieldDefinitions> = Typed<InferFields<F>, ObjectSchema> & { readonly definitions: F };

export function object<F extends FieldDefinitions>(name: string, description: string, definitions: F): DefinedObject<F> {
  return { ...objectSchema(name, description, definitions), definitions } as unknown as DefinedObject<F>;
}

/** An object that apply owns as a whole (atomic). */
export function atomic<S extends ObjectSchema>(schema: S): S {
  return { ...schema, atomic: true };
}
/** The same object, granular. */
export function granular<S extends ObjectSchema>(schema: S): S {
  return { ...schema, atomic: false };
}

/** A union: one of the fields is set. */
export function union<S extends ObjectSchema>(schema: S, definition: Union): S {
  return { ...schema, union: definition };
}

/** A forward or recursive reference to a schema. */
export function lazyFields<T>(name: string, description: string, definitions: () => FieldDefinitions): Typed<T, ObjectSchema> {
  let built: ObjectSchema | undefined;
  const build = () => {
    built ??= objectSchema(name, description, definitions());
    return built;
  };
  return {
    type: 'object',
    name,
    description,
    atomic: false,
    preserveUnknown: false,
    get fields() {
      return build().fields;
    },
    get fieldsByName() {
      return build().fieldsByName;
    },
  };
}

function objectSchema(name: string, description: string, definitions: FieldDefinitions): ObjectSchema {
  const fields = Object.entries(definitions).map(([fieldName, definition]) => toField(fieldName, definition));
  return {
    type: 'object',
    name,
    description,
    fields,
    fieldsByName: new Map(fields.map((f) => [f.name, f])),
    atomic: false,
    preserveUnknown: false,
  };
}

function toField(
  name: string,
  { number, schema, description, presence, options, embeddedIn, isRequired }: FieldDefinition<unknown, boolean>,
): Field {
  const patchStrategies: Field['patchStrategies'][number][] = [];
  if (options.merge !== undefined) patchStrategies.push('merge');
  if (options.patchReplace) patchStrategies.push('replace');
  if (options.retainKeys) patchStrategies.push('retainKeys');
  return {
    name,
    schema,
    description,
    presence,
    number,
    patchStrategies,
    required: isRequired || options.required === true,
    ...(options.default !== undefined && { default: options.default }),
    ...(options.merge && { patchMergeKey: options.merge }),
    ...(options.bytesListType && { bytesListType: options.bytesListType }),
    ...(embeddedIn && { embeddedIn }),
  };
}

/** Releases between which a version of a kind is served, such as `1.34`. Only beta and alpha versions have an end. */
export interface Lifecycle {
  readonly introduced: string;
  readonly deprecated: string;
  readonly removed: string;
  /** The API version to use instead, where upstream's warning names it. */
  readonly replacement?: string;
}

export interface KindNames {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly singular?: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly lifecycle?: Lifecycle;
  readonly featureGate?: string;
}

export interface TypeMeta {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** Objects from a server have a name, and a namespace if the kind is namespaced. */
type Identified<F extends FieldDefinitions> = TypeMeta &
  Omit<InferFields<F>, 'metadata'> & {
    readonly metadata: InferFields<F> extends { metadata?: infer M } ? Exclude<M, undefined> & { readonly name: string } : never;
  };

export interface Kind<T> extends ObjectSchema, ResourceInfo {
  /** Absent: served indefinitely. */
  readonly lifecycle?: Lifecycle;
  /** Served only if this feature gate is on. */
  readonly featureGate?: string;
  readonly [inferred]?: T;
}

/** A kind that is stored and served as a resource. `apiVersion` and `kind` are added. */
export function kind<F extends FieldDefinitions>(names: KindNames, description: string, definitions: F): Kind<Identified<F>> {
  const typeMeta = { kind: field(0, string, TYPE_META.kind), apiVersion: field(0, string, TYPE_META.apiVersion) };
  return {
    ...objectSchema(names.name, description, { ...typeMeta, ...definitions }),
    group: names.group,
    version: names.version,
    kind: names.kind,
    resource: names.resource,
    singular: names.singular ?? names.kind.toLowerCase(),
    namespaced: names.namespaced,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    ...(names.lifecycle && { lifecycle: names.lifecycle }),
    ...(names.featureGate && { featureGate: names.featureGate }),
  };
}

/** An object with apiVersion and kind that is sent but never stored: reviews, options, lists. */
export function message<F extends FieldDefinitions>(
  name: string,
  description: string,
  definitions: F,
): Typed<TypeMeta & InferFields<F>, ObjectSchema> {
  const typeMeta = { kind: field(0, string, TYPE_META.kind), apiVersion: field(0, string, TYPE_META.apiVersion) };
  return objectSchema(name, description, { ...typeMeta, ...definitions });
}

const TYPE_META = {
  kind: 'The kind of this object, in CamelCase.',
  apiVersion: 'The group and version of the schema this object follows, as group/version.',
};
