import { isDeeperThan } from '../json/is-deeper-than.ts';
import {
  copyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
  setKey,
} from '../json/json-value.ts';
import type { Schema } from '../schema.ts';
import { goValue } from '../values/go-format.ts';
import { elementKind, mergeList } from './merge-list.ts';
import { withoutNulls } from './merge-patch.ts';
import { DIRECTIVE, isDeletion, orderMergedList, requiredIdentity } from './merged-list-order.ts';
import { listMetadata, objectMetadata, type PatchMetadata } from './patch-metadata.ts';
import { sameJson } from './same-json.ts';
import { badArgument, badDirective, badFormat, goType, StrategicPatchError } from './strategic-error.ts';

export const RETAIN_KEYS = '$retainKeys';
export const ORDER_PREFIX = '$setElementOrder';
export const DELETE_PREFIX = '$deleteFromPrimitiveList';

/** Deeper than the fields of any built-in type. */
const MAX_PATCH_DEPTH = 1000;

/** A patch is applied to an object, or combined with an earlier patch into one that does both. */
type Mode = 'apply' | 'combine';

/**
 * Applies a strategic merge patch to an object of a built-in type. Nothing given is changed; the result shares what the patch does not touch.
 * Throws StrategicPatchError.
 */
export function applyStrategicMergePatch(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  if (isDeeperThan(patch, MAX_PATCH_DEPTH)) throw new StrategicPatchError('exceeded max depth', 'badRequest');
  return new Merger('apply').mergeObject(original, patch, schema);
}

/** The patch that does what one patch and then another does. */
export function combineStrategicMergePatches(first: JsonObject, second: JsonObject, schema: Schema): JsonObject {
  return new Merger('combine').mergeObject(first, second, schema);
}

class Merger {
  constructor(private readonly mode: Mode) {}

  mergeObject(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
    if (Object.hasOwn(patch, DIRECTIVE)) return applyDirective(patch);
    const target = copyObject(original);
    const keys = Object.keys(patch);
    if (keys.some(isDirective)) this.mergeDirectives(target, patch, schema);
    else for (const key of keys) this.mergeMember({ target, key, patch: patch[key] ?? null, schema });
    return target;
  }

  /** Merges a patch that has directives beside its members. */
  private mergeDirectives(target: MutableJsonObject, patch: JsonObject, schema: Schema): void {
    const pending = copyObject(patch);
    this.retainKeys(target, pending);
    this.mergeOrderedLists(target, pending, schema);
    for (const key of Object.keys(pending)) this.mergeMember({ target, key, patch: pending[key] ?? null, schema });
  }

  /** `$retainKeys` lists all keys that are kept; the patch may set no others. */
  private retainKeys(target: MutableJsonObject, pending: MutableJsonObject): void {
    const list = getKey(pending, RETAIN_KEYS);
    if (list === undefined) return;
    delete pending[RETAIN_KEYS];
    if (this.mode === 'combine') {
      this.copyDirective(target, RETAIN_KEYS, list);
      return;
    }
    if (!isJsonArray(list)) throw badFormat('retainKeys');
    const retained = new Set(list);
    for (const [key, value] of Object.entries(pending)) {
      const isParallel = key.startsWith(DELETE_PREFIX) || key.startsWith(ORDER_PREFIX);
      if (value !== null && !isParallel && !retained.has(key)) throw badFormat('retainKeys');
    }
    for (const key of Object.keys(target)) if (!retained.has(key)) delete target[key];
  }

  private copyDirective(target: MutableJsonObject, key: string, value: JsonValue): void {
    const existing = getKey(target, key);
    if (existing !== undefined && !sameJson(existing, value)) {
      if (key !== RETAIN_KEYS) throw badFormat('setElementOrder list');
      const both = `${goValue(existing)} and ${goValue(value)}`;
      throw new StrategicPatchError(`${both} are not deep equal: this may happen when calculating the 3-way diff patch`);
    }
    setKey(target, key, value);
  }

  /** Lists with a `$setElementOrder/…` directive are merged and ordered first, then skipped. */
  private mergeOrderedLists(target: MutableJsonObject, pending: MutableJsonObject, schema: Schema): void {
    for (const key of Object.keys(pending)) {
      if (!key.startsWith(ORDER_PREFIX)) continue;
      const order = pending[key] ?? null;
      if (this.mode === 'combine') this.copyDirective(target, key, order);
      delete pending[key];
      if (!isJsonArray(order)) throw badArgument('list', order);
      const field = listOfDirective(key, ORDER_PREFIX);
      const merged = this.mergeOrdered(
        { original: getKey(target, field), patch: getKey(pending, field), order },
        listMetadata(schema, field),
      );
      if (merged === undefined) continue;
      setKey(target, field, merged);
      delete pending[field];
    }
  }

  private mergeOrdered(lists: OrderedLists, metadata: PatchMetadata): readonly JsonValue[] | undefined {
    const original = optionalList(lists.original);
    const patch = optionalList(lists.patch);
    validateOrder(patch ?? [], lists.order, metadata.mergeKey);
    if (original === undefined && patch === undefined) return undefined;
    const merged = this.contentOf(original, patch, metadata);
    elementKind(original ?? [], patch ?? []);
    return orderMergedList(merged, { patchOrder: lists.order, liveOrder: original ?? [], mergeKey: metadata.mergeKey });
  }

  private contentOf(original: List, patch: List, metadata: PatchMetadata): readonly JsonValue[] {
    if (patch === undefined) return original ?? [];
    if (original === undefined) return withoutDirectives(patch) as readonly JsonValue[];
    return this.mergeListField(original, patch, metadata);
  }

  private mergeMember({ target, key, patch, schema }: Member): void {
    const deletes = key.startsWith(DELETE_PREFIX);
    if (deletes && this.mode === 'combine') {
      setKey(target, key, patch);
      return;
    }
    const field = deletes ? listOfDirective(key, DELETE_PREFIX) : key;
    if (patch === null) {
      delete target[field];
      if (this.mode === 'apply') return;
    }
    const original = getKey(target, field);
    if (original !== undefined && goType(original) === goType(patch)) {
      this.mergeSameType({ target, key: field, patch, schema }, original, deletes);
    } else if (!deletes)
      setOrDelete(target, field, withoutDirectives(this.mode === 'apply' && patch !== null ? withoutNulls(patch) : patch));
  }

  private mergeSameType({ target, key, patch, schema }: Member, original: JsonValue, deletes: boolean): void {
    if (isJsonObject(original) && isJsonObject(patch)) {
      const metadata = objectMetadata(schema, key);
      setKey(target, key, metadata.strategy === 'replace' ? patch : this.mergeObject(original, patch, metadata.schema));
    } else if (isJsonArray(original) && isJsonArray(patch)) {
      setKey(target, key, this.mergeListField(original, patch, listMetadata(schema, key), deletes));
    } else setKey(target, key, patch);
  }

  private mergeListField(
    original: readonly JsonValue[],
    patch: readonly JsonValue[],
    { schema, strategy, mergeKey }: PatchMetadata,
    deletes = false,
  ): readonly JsonValue[] {
    if (strategy !== 'merge' && !deletes) return patch;
    const mergeItems = (a: JsonObject, b: JsonObject, items: Schema) => this.mergeObject(a, b, items);
    return mergeList({ original, patch, items: schema, mergeKey, deletes, mergeItems });
  }
}

type List = readonly JsonValue[] | undefined;

interface OrderedLists {
  readonly original: JsonValue | undefined;
  readonly patch: JsonValue | undefined;
  readonly order: readonly JsonValue[];
}

interface Member {
  readonly target: MutableJsonObject;
  readonly key: string;
  readonly patch: JsonValue;
  readonly schema: Schema;
}

function isDirective(key: string): boolean {
  return key.startsWith('$');
}

function optionalList(value: JsonValue | undefined): List {
  if (value !== undefined && !isJsonArray(value)) throw badArgument('list', value);
  return value;
}

function setOrDelete(target: MutableJsonObject, key: string, value: JsonValue | undefined): void {
  if (value === undefined) delete target[key];
  else setKey(target, key, value);
}

/** `$patch` on an object: replace it by the rest of the patch, or delete it. */
function applyDirective(patch: JsonObject): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw badDirective(directive, patch);
  const { [DIRECTIVE]: _, ...rest } = patch;
  return rest;
}

function listOfDirective(key: string, prefix: typeof ORDER_PREFIX | typeof DELETE_PREFIX): string {
  if (key.startsWith(`${prefix}/`)) return key.slice(prefix.length + 1);
  throw badFormat(prefix === ORDER_PREFIX ? 'setElementOrder list' : 'primitive list');
}

/** The items of the patch must come in the order that the directive gives, and be among those it names. */
function validateOrder(patch: readonly JsonValue[], order: readonly JsonValue[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const items = patch.filter((item) => mergeKey === '' || (!isDeletion(item) && !(isJsonObject(item) && Object.hasOwn(item, DIRECTIVE))));
  let next = 0;
  for (const place of order) {
    const item = items[next];
    if (item === undefined) return;
    if (requiredIdentity(item, mergeKey) === requiredIdentity(place, mergeKey)) next++;
  }
  if (next < items.length) {
    throw new StrategicPatchError(`The order in patch list:\n${goValue(patch)}\n doesn't match ${ORDER_PREFIX} list:\n${goValue(order)}\n`);
  }
}

/** The value that a patch adds: without directives, at any depth. Undefined if it is a directive itself. */
function withoutDirectives(value: JsonValue): JsonValue | undefined {
  if (isJsonArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const result: MutableJsonObject = {};
  for (const key of Object.keys(value)) setOrDelete(result, key, withoutDirectives(value[key] ?? null));
  return result;
}
