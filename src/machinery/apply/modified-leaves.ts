import { getKey, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { FieldPaths } from './field-filter.ts';
import { SERVER_FIELDS } from './field-filter.ts';
import { type FieldSet, isEmpty, isMember } from './field-set.ts';
import type { FieldShape, MapShape, Shape } from './shape.ts';
import { memberElement, valuesEqual } from './typed-value.ts';

export interface LeafOwners {
  readonly own: FieldSet;
  readonly others: readonly FieldSet[];
}

/** `own`: leaves changed, all of them owned by the writer alone. `undecided`: maybe more than that. */
export type LeafChange = 'none' | 'own' | 'undecided';

interface ObjectPair {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/**
 * Whether a write changed nothing but leaves that the writer owns alone, without computing field sets: unlike a comparison it stops at the
 * first field that was added or removed, and at lists whose items are owned separately.
 */
export function changeOfLeaves(shape: Shape, pair: ObjectPair, owners: LeafOwners, resetFields: FieldPaths = []): LeafChange {
  if (shape.map === undefined || resetFields.some((path) => path.length > 1)) return 'undecided';
  const ignored = resetFields.length === 0 ? undefined : resetFields.map(([name]) => name as string);
  return changeOfMembers(shape.map, pair, { ...owners, unowned: SERVER_FIELDS, ignored });
}

/** What is needed about the children of one field. */
interface Level extends LeafOwners {
  /** What never has an owner. */
  readonly unowned: FieldSet | undefined;
  /** Names of members that the write cannot change. */
  readonly ignored: readonly string[] | undefined;
}

function changeOfMembers(map: MapShape, { before, after }: ObjectPair, level: Level): LeafChange {
  let change: LeafChange = 'none';
  for (const key in after) {
    const value = after[key];
    const old = getKey(before, key);
    if (value === old || level.ignored?.includes(key)) continue;
    const declared = map.fields.get(key);
    const shape = declared?.shape ?? map.values;
    if (shape === undefined) continue;
    const inner = changeOfMember(memberElement(declared, key), { shape, old, value }, level);
    if (inner === 'undecided') return inner;
    if (inner === 'own') change = inner;
  }
  return removesNothing(map, { before, after }, level) ? change : 'undecided';
}

function removesNothing(map: MapShape, { before, after }: ObjectPair, { unowned, ignored }: Level): boolean {
  for (const key in before) {
    if (before[key] === undefined || getKey(after, key) !== undefined || ignored?.includes(key)) continue;
    const declared: FieldShape | undefined = map.fields.get(key);
    if ((declared?.shape ?? map.values) !== undefined && !isUnowned(unowned, memberElement(declared, key))) return false;
  }
  return true;
}

function isUnowned(unowned: FieldSet | undefined, element: string): boolean {
  const node = unowned?.[element];
  return node !== undefined && isEmpty(node);
}

interface MemberChange {
  readonly shape: Shape;
  readonly old: JsonValue | undefined;
  readonly value: JsonValue | undefined;
}

function changeOfMember(element: string, { shape, old, value }: MemberChange, level: Level): LeafChange {
  if (isUnowned(level.unowned, element)) return 'none';
  if (old === undefined || old === null || value === undefined || value === null) return 'undecided';
  const { map, list } = shape;
  if (isJsonObject(old) && isJsonObject(value) && map !== undefined && !map.atomic)
    return changeOfMembers(map, { before: old, after: value }, below(level, element));
  const isLeaf =
    (typeof old !== 'object' && typeof value !== 'object') ||
    (isJsonObject(old) && isJsonObject(value) && map?.atomic === true) ||
    (isJsonArray(old) && isJsonArray(value) && list?.atomic === true);
  if (!isLeaf) return 'undecided';
  if (valuesEqual(old, value)) return 'none';
  return isOwnedAlone(level, element) ? 'own' : 'undecided';
}

function isOwnedAlone({ own, others }: Level, element: string): boolean {
  const node = own[element];
  if (node === undefined || !isMember(node)) return false;
  for (const other of others) {
    const otherValue = other[element];
    if (otherValue !== undefined && isMember(otherValue)) return false;
  }
  return true;
}

const NOTHING: FieldSet = {};
const NONE: readonly FieldSet[] = [];

function below({ own, others, unowned }: Level, element: string): Level {
  const inner = others.length === 0 ? NONE : others.map((set) => set[element]).filter((set) => set !== undefined);
  return { own: own[element] ?? NOTHING, others: inner, unowned: unowned?.[element], ignored: undefined };
}
