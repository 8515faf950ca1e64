import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { compareBytes } from '../values/go-format.ts';
import {
  additionalOf,
  asResource,
  defaultOf,
  isEmbeddedResource,
  itemsOf,
  type JsonSchema,
  META_FIELDS,
  memberOf,
  preservesUnknown,
  propertiesOf,
  propertyOf,
} from './json-schema.ts';

export interface PruneResult {
  readonly object: JsonObject;
  /** Where fields were removed, sorted: `spec.list[0].nope`. */
  readonly unknownFields: readonly string[];
}

/** Removes the fields of a resource that its schema does not declare. Metadata, declared or not, is left alone. */
export function pruneUnknownFields(schema: JsonSchema, object: JsonObject): PruneResult {
  const pruning = new Pruner();
  const pruned = pruning.prune(asResource(schema), object) as JsonObject;
  return { object: pruned, unknownFields: pruning.unknownFields.sort(compareBytes) };
}

/** The same for a value that need not be a resource: a default. */
export function pruneValue(schema: JsonSchema, value: JsonValue): JsonValue {
  return new Pruner().prune(schema, value);
}

const MAX_PRUNED_DEPTH = 1000;

class Pruner {
  readonly unknownFields: string[] = [];
  private readonly path: string[] = [];

  prune(schema: JsonSchema | undefined, value: JsonValue): JsonValue {
    if (schema !== undefined && preservesUnknown(schema)) return this.keep(schema, value);
    if (isJsonArray(value)) {
      // Deeper than the schema: a value of the wrong type, which validation rejects.
      if (this.path.length > MAX_PRUNED_DEPTH) return value;
      const items = schema === undefined ? undefined : itemsOf(schema);
      return this.eachItem(value, (item) => this.prune(items, item));
    }
    return isJsonObject(value) ? this.pruneMembers(schema, value) : value;
  }

  private pruneMembers(schema: JsonSchema | undefined, object: JsonObject): JsonValue {
    return this.eachMember(object, (name, member) => {
      if (schema !== undefined) {
        if (isEmbeddedResource(schema) && META_FIELDS.has(name)) return member;
        const declared = propertyOf(schema, name);
        if (declared !== undefined) return this.at(name, () => this.prune(declared, member));
        if (schema.additionalProperties !== undefined) return this.at(name, () => this.prune(additionalOf(schema), member));
      }
      if (!META_FIELDS.has(name) || this.path.length > 0) this.unknownFields.push([...this.path, this.segment(name)].join(''));
      return undefined;
    });
  }

  // Unknown fields are preserved; declared fields below are pruned again.
  private keep(schema: JsonSchema, value: JsonValue): JsonValue {
    if (isJsonArray(value)) {
      const items = itemsOf(schema);
      return items === undefined ? value : this.eachItem(value, (item) => this.keep(items, item));
    }
    if (!isJsonObject(value)) return value;
    return this.eachMember(value, (name, member) => {
      if (isEmbeddedResource(schema) && META_FIELDS.has(name)) return member;
      if (propertyOf(schema, name) === undefined && schema.additionalProperties === undefined) return member;
      return this.at(name, () => this.prune(memberOf(schema, name), member));
    });
  }

  private at<T>(name: string, visit: () => T): T {
    this.path.push(this.segment(name));
    const result = visit();
    this.path.pop();
    return result;
  }

  private segment(name: string): string {
    return this.path.length === 0 ? name : `.${name}`;
  }

  private eachItem(items: readonly JsonValue[], visit: (item: JsonValue) => JsonValue): JsonValue {
    let changed = false;
    const result = items.map((item, i) => {
      this.path.push(`[${i}]`);
      const pruned = visit(item);
      this.path.pop();
      changed ||= pruned !== item;
      return pruned;
    });
    return changed ? result : items;
  }

  private eachMember(object: JsonObject, visit: (name: string, member: JsonValue) => JsonValue | undefined): JsonValue {
    let changed = false;
    const result: MutableJsonObject = {};
    for (const name of Object.keys(object)) {
      const member = object[name] as JsonValue;
      const pruned = visit(name, member);
      changed ||= pruned !== member;
      if (pruned !== undefined) setKey(result, name, pruned);
    }
    return changed ? result : object;
  }
}

/** Removes nulls that the schema does not allow and has no default for. */
export function pruneNulls(schema: JsonSchema | undefined, value: JsonValue): JsonValue {
  if (schema === undefined) return value;
  if (isJsonArray(value)) {
    const items = itemsOf(schema);
    const result = value.map((item) => pruneNulls(items, item));
    return result.every((item, i) => item === value[i]) ? value : result;
  }
  return isJsonObject(value) ? pruneNullMembers(schema, value) : value;
}

function pruneNullMembers(schema: JsonSchema, object: JsonObject): JsonObject {
  let changed = false;
  const result: MutableJsonObject = {};
  for (const name of Object.keys(object)) {
    const member = object[name] as JsonValue;
    const declared = memberOf(schema, name);
    if (member === null && declared !== undefined && declared.nullable !== true && defaultOf(declared) === undefined) {
      changed = true;
      continue;
    }
    const pruned = pruneNulls(declared, member);
    changed ||= pruned !== member;
    setKey(result, name, pruned);
  }
  return changed ? result : object;
}

/** The schema with pruned defaults, since defaults are applied to objects without validation. */
export function withPrunedDefaults(schema: JsonSchema): JsonSchema {
  const items = itemsOf(schema);
  const additional = additionalOf(schema);
  const value = defaultOf(schema);
  return {
    ...schema,
    ...(value !== undefined && { default: pruneValue(schema, value) }),
    ...(items !== undefined && { items: withPrunedDefaults(items) }),
    ...(additional !== undefined && { additionalProperties: withPrunedDefaults(additional) }),
    ...(schema.properties !== undefined && {
      properties: Object.fromEntries(propertiesOf(schema).map(([name, property]) => [name, withPrunedDefaults(property)])),
    }),
  };
}
