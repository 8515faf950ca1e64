/**
 * The model of a type, used by decoding, defaulting, patches, apply, protobuf and OpenAPI. Built-in types are written in `api/`'s definition
 * language, custom resources are compiled from their CRD; both take the same path from here on.
 */
export type Schema = ScalarSchema | ObjectSchema | ListSchema | MapSchema | AnySchema;

export type ScalarType =
  | 'string'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bool'
  | 'bytes'
  | 'quantity'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'intOrString';

export interface ScalarSchema {
  readonly type: ScalarType;
  /** The type's name in upstream's errors, if it has one: `v1.PullPolicy`. */
  readonly goName?: string;
}

export interface ObjectSchema {
  readonly type: 'object';
  /** The OpenAPI name, such as `io.k8s.api.core.v1.Pod`. */
  readonly name: string;
  readonly description: string;
  /** In declaration order. */
  readonly fields: readonly Field[];
  readonly fieldsByName: ReadonlyMap<string, Field>;
  /** Server-side apply owns the whole object at once. */
  readonly atomic: boolean;
  /** Unknown fields are preserved (custom resources, embedded objects). */
  readonly preserveUnknown: boolean;
  /** A union: one of these fields is set. Only published in OpenAPI. */
  readonly union?: Union;
}

export interface Union {
  /** The union's discriminator, if any. */
  readonly discriminator?: string;
  readonly fields: readonly string[];
}

export interface ListSchema {
  readonly type: 'list';
  readonly items: Schema;
  readonly listType: 'atomic' | 'set' | 'map';
  /** The keys that identify an item when `listType` is `map`. */
  readonly keys: readonly string[];
  /** Protobuf wraps the list in a message, as every list that is a map's value. */
  readonly wrapped?: boolean;
  /** OpenAPI omits the list type, which means atomic. */
  readonly unmarked?: boolean;
  readonly goName?: string;
}

export interface MapSchema {
  readonly type: 'map';
  readonly values: Schema;
  readonly atomic: boolean;
  /** OpenAPI states the default explicitly: entries are owned one by one. */
  readonly granular?: boolean;
  readonly goName?: string;
}

/** A value of any shape; `proto` says how protobuf carries it. */
export interface AnySchema {
  readonly type: 'any';
  readonly name: string;
  /** Must be an object (RawExtension, FieldsV1), without known fields. */
  readonly objectOnly: boolean;
  readonly proto: 'raw' | 'schemaOrArray' | 'schemaOrBool' | 'schemaOrStringArray';
  /** The schema that the `schemaOr…` forms hold. */
  readonly inner?: ObjectSchema;
}

/**
 * When a field stands in an encoded object.
 * - `nonzero`: absent when it has its type's zero value (a plain value with omitempty).
 * - `set`: absent only if not set; zero values are kept (a pointer).
 * - `always`: there even when empty: scalars as their zero value, objects as `{}`, lists, maps and times as `null`.
 * - `nullable`: encoded as `null` if not set; zero values are kept (a pointer without omitempty).
 */
export type Presence = 'nonzero' | 'set' | 'always' | 'nullable';

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly description: string;
  readonly presence: Presence;
  readonly required: boolean;
  /** The schema's own default, as published in OpenAPI; behaviour-dependent defaults live with the kind. */
  readonly default?: unknown;
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey?: string;
  /** Bytes that OpenAPI publishes as a list. */
  readonly bytesListType?: 'atomic';
  /** Its number in protobuf; 0 for a field that protobuf does not carry. */
  readonly number: number;
  /** Protobuf wraps the field in an embedded message that JSON does not show. */
  readonly embeddedIn?: EmbeddedMessage;
}

export interface EmbeddedMessage {
  readonly number: number;
  /** The embedded type, as errors of decoding name it. */
  readonly name: string;
  /** The next message inside, when one embedded message holds another. */
  readonly inner?: EmbeddedMessage;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf({ group, version }: { group: string; version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The wire names of a kind, besides its fields. */
export interface ResourceInfo extends GroupVersionKind {
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}
