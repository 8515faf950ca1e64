import { valuesEqual } from '../apply/typed-value.ts';
import { encodeJson } from '../json/encode-json.ts';
import { getKey, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { itemsOf, type JsonSchema, memberOf } from './json-schema.ts';

/**
 * A value with its old counterpart. Fields are correlated by name, map entries by key and items of map lists by their keys; items of other lists
 * cannot be correlated.
 */
export class Correlation {
  private equal: boolean | undefined;
  private oldByKey: ListMap | undefined;
  private readonly children = new Map<string | number, Correlation | undefined>();

  constructor(
    readonly value: JsonValue,
    readonly old: JsonValue,
    private readonly schema: JsonSchema,
  ) {}

  /** Whether the value is unchanged. The order of map lists is ignored. */
  unchanged(): boolean {
    this.equal ??= this.compare();
    return this.equal;
  }

  key(name: string): Correlation | undefined {
    return this.child(name, () => this.correlateMember(name));
  }

  index(index: number): Correlation | undefined {
    return this.child(index, () => this.correlateItem(index));
  }

  private child(place: string | number, correlate: () => Correlation | undefined): Correlation | undefined {
    if (!this.children.has(place)) this.children.set(place, correlate());
    return this.children.get(place);
  }

  private correlateMember(name: string): Correlation | undefined {
    if (!isJsonObject(this.value) || !isJsonObject(this.old)) return undefined;
    const value = getKey(this.value, name);
    const old = getKey(this.old, name);
    const schema = memberOf(this.schema, name);
    return value === undefined || old === undefined || schema === undefined ? undefined : new Correlation(value, old, schema);
  }

  private correlateItem(index: number): Correlation | undefined {
    if (!isJsonArray(this.value) || !isJsonArray(this.old)) return undefined;
    const items = itemsOf(this.schema);
    if (items === undefined || this.schema['x-kubernetes-list-type'] !== 'map') return undefined;
    this.oldByKey ??= new ListMap(this.schema, this.old);
    const value = this.value[index];
    const old = value === undefined ? undefined : this.oldByKey.get(value);
    return value === undefined || old === undefined ? undefined : new Correlation(value, old, items);
  }

  private compare(): boolean {
    const { value, old } = this;
    if (value === old) return true;
    if (isJsonArray(value) && isJsonArray(old)) return this.sameItems(value, old);
    if (isJsonObject(value) && isJsonObject(old)) return this.sameMembers(value, old);
    return valuesEqual(value, old);
  }

  private sameItems(value: readonly JsonValue[], old: readonly JsonValue[]): boolean {
    if (value.length !== old.length) return false;
    for (let i = 0; i < value.length; i++) {
      const child = this.index(i);
      if (child === undefined) return this.oldByKey === undefined && valuesEqual(value, old);
      if (!child.unchanged()) return false;
    }
    return true;
  }

  private sameMembers(value: JsonObject, old: JsonObject): boolean {
    const names = Object.keys(value);
    return names.length === Object.keys(old).length && names.every((name) => this.key(name)?.unchanged() === true);
  }
}

/** Finds items of a map list by the keys of another item; nothing in other lists. */
export class ListMap {
  private readonly byKey = new Map<string, JsonValue>();

  constructor(
    private readonly schema: JsonSchema,
    items: readonly JsonValue[],
  ) {
    if (schema['x-kubernetes-list-type'] !== 'map') return;
    for (const item of items) {
      const key = this.keyOf(item);
      if (key !== undefined && !this.byKey.has(key)) this.byKey.set(key, item);
    }
  }

  get(item: JsonValue): JsonValue | undefined {
    const key = this.keyOf(item);
    return key === undefined ? undefined : this.byKey.get(key);
  }

  private keyOf(item: JsonValue): string | undefined {
    if (!isJsonObject(item)) return undefined;
    const keys = this.schema['x-kubernetes-list-map-keys'] ?? [];
    return encodeJson(keys.map((name) => getKey(item, name) ?? null));
  }
}
