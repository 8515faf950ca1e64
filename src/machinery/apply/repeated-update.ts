import type { JsonObject } from '../json/json-value.ts';
import type { ObjectSchema } from '../schema.ts';
import { type Comparison, compareValues } from './compare.ts';
import { fieldFilter, SERVER_FIELDS, type WrittenFields } from './field-filter.ts';
import { difference, type FieldSet, includesAll, intersects, isEmpty, union } from './field-set.ts';
import { changeOfLeaves, type LeafChange } from './modified-leaves.ts';
import { compareEntries, type ManagedFieldsEntry } from './owners.ts';
import { shapeOf } from './shape.ts';
import { isMadeFor } from './shared-sets.ts';

interface Writer extends WrittenFields {
  readonly schema: ObjectSchema;
  readonly apiVersion: string;
  readonly manager: string;
  readonly subresource?: string;
  readonly now: string;
}

/** An object before and after a write, with the same entries. */
interface Transition {
  readonly live: JsonObject;
  readonly updated: JsonObject;
  readonly entries: readonly ManagedFieldsEntry[];
}

export interface RepeatedUpdate {
  /** The entries with an updated time; undefined if ownership may change. */
  readonly entries?: readonly ManagedFieldsEntry[];
  /** How the objects differ, if they were compared. */
  readonly comparison?: Comparison;
}

/**
 * The fast path for a manager that only writes fields it already owns exclusively. Nearly all writes (lease renewals, status reports) are of this kind.
 */
export function repeatedUpdate(writer: Writer, transition: Transition): RepeatedUpdate {
  const { live, updated, entries } = transition;
  const self = entries.find((entry) => isOf(writer, entry));
  const shape = shapeOf(writer.schema);
  if (self === undefined || !entries.every(({ apiVersion, fieldsV1 }) => apiVersion === writer.apiVersion && isMadeFor(fieldsV1, shape)))
    return {};
  const change = changeOfOwnLeaves(writer, self, transition);
  if (change !== 'undecided')
    return { entries: change === 'none' || self.time === writer.now ? entries : withTime(entries, self, writer.now) };
  const comparison = compareValues(shape, live, updated);
  const own = newlyWritten(writer, comparison, { self, entries });
  if (own === undefined || !includesAll(self.fieldsV1!, own)) return { comparison };
  return { entries: isEmpty(own) || self.time === writer.now ? entries : withTime(entries, self, writer.now) };
}

function changeOfOwnLeaves(writer: Writer, self: ManagedFieldsEntry, { live, updated, entries }: Transition): LeafChange {
  if (writer.onlyFields !== undefined) return 'undecided';
  const others = entries.length === 1 ? [] : entries.flatMap((entry) => (entry === self ? [] : [entry.fieldsV1!]));
  return changeOfLeaves(shapeOf(writer.schema), { before: live, after: updated }, { own: self.fieldsV1!, others }, writer.resetFields);
}

interface SelfAmongEntries {
  readonly self: ManagedFieldsEntry;
  readonly entries: readonly ManagedFieldsEntry[];
}

/** The fields that the writer set; undefined if it removed some, or set fields of others. */
function newlyWritten(writer: Writer, { added, modified, removed }: Comparison, { self, entries }: SelfAmongEntries): FieldSet | undefined {
  const filter = fieldFilter(writer);
  if (!isEmpty(difference(filter(removed), SERVER_FIELDS))) return undefined;
  const written = union(filter(modified), filter(added));
  if (entries.some((entry) => entry !== self && intersects(entry.fieldsV1!, written))) return undefined;
  return difference(written, SERVER_FIELDS);
}

function isOf({ manager, apiVersion, subresource = '' }: Writer, entry: ManagedFieldsEntry): boolean {
  return (
    entry.operation === 'Update' &&
    entry.manager === (manager || 'unknown') &&
    entry.apiVersion === apiVersion &&
    (entry.subresource ?? '') === subresource
  );
}

function withTime(entries: readonly ManagedFieldsEntry[], self: ManagedFieldsEntry, time: string): readonly ManagedFieldsEntry[] {
  const changed = entries.map((entry) => (entry === self ? Object.assign({}, entry, { time }) : entry));
  return changed.length > 1 ? changed.sort(compareEntries) : changed;
}
