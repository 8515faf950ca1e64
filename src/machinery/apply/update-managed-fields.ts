import { runSteps } from '#base';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { ObjectSchema } from '../schema.ts';
import type { Comparison } from './compare.ts';
import { fieldFilter, SERVER_FIELDS, type WrittenFields } from './field-filter.ts';
import { difference, EMPTY_SET, type FieldSet, includesAll, isEmpty, union } from './field-set.ts';
import { isReset, managedFieldsOf, metadataText, withManagedFields, withoutManagedFields } from './managed-object.ts';
import {
  copyOwner,
  decodeOwners,
  encodeOwners,
  type ManagedFieldsEntry,
  ManagedFieldsError,
  NO_OWNERS,
  newOwner,
  type Owner,
  type OwnerId,
  type Owners,
  storedOwners,
} from './owners.ts';
import { ConversionError, capUpdaters, type OwnershipRules, ownershipAfterUpdate, type VersionLookup } from './ownership.ts';
import { repeatedUpdate } from './repeated-update.ts';
import { emptyObject, shapeOf } from './shape.ts';
import { SharedSets } from './shared-sets.ts';
import { ListItemError } from './typed-value.ts';

export interface UpdateManagedFieldsOptions<T extends object> extends WrittenFields {
  /** The objects' type. Objects are in encoded form: always-encoded fields are present. */
  readonly schema: ObjectSchema;
  /** The version of the request, and of the objects. */
  readonly apiVersion: string;
  /** The stored object; undefined on create. */
  readonly live: object | undefined;
  /** The object to be stored, with defaults. */
  readonly updated: T;
  readonly manager: string;
  /** Empty for the main resource. */
  readonly subresource?: string;
  /** RFC 3339, to the second. */
  readonly now: string;
  readonly versions?: VersionLookup | undefined;
  /** The client asked to reset ownership: see `resetsManagedFields`. */
  readonly reset?: boolean;
}

/**
 * Updates the managedFields of an object that was created, replaced or patched: the writer owns what changed. Never fails; an object that cannot be
 * compared is no longer tracked.
 */
export function updateManagedFields<T extends object>(options: UpdateManagedFieldsOptions<T>): T {
  return runSteps(managedFieldsSteps(options));
}

/** `updateManagedFields`, with a pause after each step whose cost grows with the object. */
export function* managedFieldsSteps<T extends object>(options: UpdateManagedFieldsOptions<T>): Generator<void, T> {
  const live = options.live as JsonObject | undefined;
  const updated = options.updated as unknown as JsonObject;
  const entries = live && sharedEntries(live, updated);
  try {
    const repeated = entries && !options.reset ? repeatedUpdate(options, { live, updated, entries }) : undefined;
    if (repeated?.entries) return (repeated.entries === entries ? updated : withManagedFields(updated, repeated.entries)) as unknown as T;
    yield;
    return (yield* tracked(options, { live, updated, comparison: repeated?.comparison })) as unknown as T;
  } catch (error) {
    if (error instanceof ListItemError || error instanceof ConversionError) return withoutManagedFields(updated) as unknown as T;
    throw error;
  }
}

/** The entries, if the writer did not change them. */
function sharedEntries(live: JsonObject, updated: JsonObject): readonly ManagedFieldsEntry[] | undefined {
  const stored = managedFieldsOf(live);
  return Array.isArray(stored) && stored === managedFieldsOf(updated) ? (stored as unknown as readonly ManagedFieldsEntry[]) : undefined;
}

type ObjectChange = Omit<Change, 'owners'>;

function* tracked<T extends object>(options: UpdateManagedFieldsOptions<T>, change: ObjectChange): Generator<void, JsonObject> {
  const { live, updated } = change;
  const owners = startingOwners(options, live, updated);
  const object = withoutManagedFields(updated);
  const isTracked = owners.size > 0 || live === undefined || metadataText(live, 'uid') === '';
  if (!isTracked) return object;
  const isNew = live === undefined && owners.size === 0;
  const after = isNew ? creator(options, object) : yield* updateOwners(options, { ...change, updated: object, owners });
  yield;
  return withManagedFields(object, encodeOwners(capUpdaters(after), SharedSets.of(shapeOf(options.schema))));
}

// The client's entries if it sent some, else the stored ones, so that clients unaware of ownership do not erase it.
function startingOwners(
  { subresource = '', reset = false }: { subresource?: string; reset?: boolean },
  live: JsonObject | undefined,
  updated: JsonObject,
): Owners {
  const stored = live === undefined ? undefined : managedFieldsOf(live);
  const sent = managedFieldsOf(updated);
  if (subresource !== '' || (sent === stored && !reset)) return readOrNone(storedOwners, stored) ?? NO_OWNERS;
  if (reset || isReset(sent)) return NO_OWNERS;
  const owners = readOrNone(decodeOwners, sent);
  return owners === undefined || owners.size === 0 ? (readOrNone(storedOwners, stored) ?? NO_OWNERS) : owners;
}

function readOrNone(read: (entries: JsonValue | undefined) => Owners, entries: JsonValue | undefined): Owners | undefined {
  try {
    return read(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return undefined;
    throw error;
  }
}

type Endpoint = WrittenFields & {
  readonly schema: ObjectSchema;
  readonly apiVersion: string;
  readonly versions?: VersionLookup | undefined;
};

interface Writer extends Endpoint {
  readonly manager: string;
  readonly subresource?: string;
  readonly now: string;
}

interface Change {
  readonly live: JsonObject | undefined;
  readonly updated: JsonObject;
  readonly owners: Owners;
  /** How the objects differ, if they were compared before. */
  readonly comparison?: Comparison | undefined;
}

/** The one owner of a new object. */
function creator(writer: Writer, object: JsonObject): Owners {
  const all = () => runSteps(updateOwners(writer, { live: undefined, updated: object, owners: NO_OWNERS }));
  if (writer.onlyFields !== undefined) return all();
  const sets = SharedSets.of(shapeOf(writer.schema));
  const set = sets.created(object, writer.resetFields, () => firstSet(all()));
  const self = selfOf(writer, set);
  return isEmpty(set) ? NO_OWNERS : new Map([[self.id, self]]);
}

function firstSet(owners: Owners): FieldSet {
  for (const { set } of owners.values()) return set;
  return EMPTY_SET;
}

function selfOf({ manager, apiVersion, subresource = '', now }: Writer, set: FieldSet): Owner {
  return newOwner({ manager: manager || 'unknown', operation: 'Update', apiVersion, subresource }, set, now);
}

/** The owners after an update. Pauses between steps that may be long. */
export function* updateOwners(writer: Writer, { live, updated, owners, comparison }: Change): Generator<void, Owners> {
  const before = live === undefined ? emptyObject(writer.schema) : withoutManagedFields(live);
  const self = selfOf(writer, EMPTY_SET);
  // Changes are first assigned to a temporary owner: the manager's earlier entry then shows what it loses, and keeps its time when nothing changes.
  const current = { ...self, id: CURRENT };
  const after = yield* ownershipAfterUpdate(ownershipRules(writer), { live: before, updated, owners, comparison }, current);
  yield;
  return mergeCurrent(after, self);
}

const CURRENT: OwnerId = 'current-operation';

export function ownershipRules(endpoint: Endpoint): OwnershipRules {
  const { schema, apiVersion, versions } = endpoint;
  return { apiVersion, shape: shapeOf(schema), filter: fieldFilter(endpoint), versions };
}

// Writing the same fields again does not change ownership.
function withAll(owned: FieldSet, set: FieldSet): FieldSet {
  return includesAll(owned, set) ? owned : union(set, owned);
}

function mergeCurrent(owners: Owners, self: Owner): Owners {
  const current = owners.get(CURRENT);
  if (current === undefined) return owners;
  const result = new Map(owners);
  result.delete(CURRENT);
  const set = difference(current.set, SERVER_FIELDS);
  if (isEmpty(set)) return result;
  const previous = result.get(self.id);
  result.set(
    self.id,
    previous === undefined ? { ...self, set } : copyOwner(previous, { set: withAll(previous.set, set), time: self.time }),
  );
  return result;
}
