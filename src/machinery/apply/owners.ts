import { encodeJson } from '../json/encode-json.ts';
import type { JsonValue } from '../json/json-value.ts';
import { compareBytes, goJsonEscape, goQuote } from '../values/go-format.ts';
import { decodeFieldSet, EMPTY_SET, type FieldSet, setsEqual } from './field-set.ts';
import { type SharedSets, sharedText } from './shared-sets.ts';

/** An entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldSet;
  readonly subresource?: string;
}

/** A parsed entry of managedFields. */
export interface Owner {
  readonly id: OwnerId;
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The API version of the paths in `set`. */
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** The entry this was parsed from, reused while nothing changes. */
  readonly entry?: ManagedFieldsEntry;
}

/** The key of an owner: name and subresource for appliers, also the version for updaters. */
export type OwnerId = string;

/** Unordered; sorted when encoded. */
export type Owners = ReadonlyMap<OwnerId, Owner>;
export const NO_OWNERS: Owners = new Map();

type Identity = Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

// Upstream sorts conflicts by this text, the JSON of the entry without its fields and time.
export function ownerId({ manager, operation, apiVersion, subresource }: Identity): OwnerId {
  const name = manager === '' ? '' : `"manager":${quoted(manager)},`;
  const version = operation === 'Update' ? `,"apiVersion":${quoted(apiVersion)}` : '';
  const part = subresource === '' ? '' : `,"subresource":${quoted(subresource)}`;
  return `{${name}"operation":"${operation}"${version}${part}}`;
}

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : goJsonEscape(encodeJson(text));
}
const PLAIN = /^[\w./:@ -]*$/;

export function newOwner(identity: Identity, set: FieldSet, time: string | undefined): Owner {
  return { id: ownerId(identity), ...identity, set, time };
}

export function withSet(owner: Owner, set: FieldSet): Owner {
  return set === owner.set || setsEqual(set, owner.set) ? owner : copyOwner(owner, { set });
}

/** A changed copy, no longer tied to the entry it was read from. */
export function copyOwner(owner: Owner, changes: Partial<Pick<Owner, 'set' | 'time' | 'apiVersion' | 'id' | 'manager'>>): Owner {
  const { entry: _, ...rest } = owner;
  return { ...rest, ...changes };
}

export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

/** Parses a client's managedFields. Throws ManagedFieldsError for invalid entries. */
export function decodeOwners(entries: JsonValue | readonly ManagedFieldsEntry[] | undefined): Owners {
  return readOwners(entries, readSet);
}

/** Parses managedFields of a stored object: validated and sorted when they were written. */
export function storedOwners(entries: JsonValue | readonly ManagedFieldsEntry[] | undefined): Owners {
  return readOwners(entries, (entry) => entry.fieldsV1 ?? EMPTY_SET);
}

type SetReader = (entry: ManagedFieldsEntry) => FieldSet;

function readOwners(entries: JsonValue | readonly ManagedFieldsEntry[] | undefined, setOf: SetReader): Owners {
  if (!Array.isArray(entries)) return NO_OWNERS;
  const owners = new Map<OwnerId, Owner>();
  for (const [index, entry] of (entries as readonly ManagedFieldsEntry[]).entries()) {
    const owner = readEntry(entry, index, setOf);
    owners.set(owner.id, owner);
  }
  return owners;
}

function readEntry(entry: ManagedFieldsEntry, index: number, setOf: SetReader): Owner {
  if (typeof entry !== 'object' || entry === null) throw new ManagedFieldsError(`managed fields entry ${index} is not an object`);
  const { manager = '', operation = '', apiVersion = '', time, subresource = '', fieldsType = '' } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw new ManagedFieldsError('operation must be `Apply` or `Update`');
  if (apiVersion === '') throw new ManagedFieldsError('apiVersion must not be empty');
  if (fieldsType === '') throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1') throw new ManagedFieldsError(`invalid fieldsType ${goQuote(fieldsType)} in managed fields entry ${index}`);
  const set = setOf(entry);
  const owner = newOwner({ manager, operation, apiVersion, subresource }, set, time ?? undefined);
  return set === entry.fieldsV1 ? { ...owner, entry } : owner;
}

function readSet({ fieldsV1 }: ManagedFieldsEntry): FieldSet {
  try {
    return decodeFieldSet((fieldsV1 ?? {}) as unknown as JsonValue);
  } catch (cause) {
    throw new ManagedFieldsError(`error decoding set: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** The entries, sorted as upstream sorts them: appliers first, then by time and name. Undefined when there are none. */
export function encodeOwners(owners: Owners, sets?: SharedSets): readonly ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined;
  const sorted = [...owners.values()];
  if (sorted.length > 1) sorted.sort(sorted.length > FEW ? compareWithTimes(sorted) : compareEntries);
  return sorted.map((owner) => owner.entry ?? newEntry(owner, sets?.share(owner.set) ?? owner.set));
}

type EntryOrder = Pick<ManagedFieldsEntry, 'operation' | 'manager' | 'apiVersion' | 'subresource'> & { readonly time?: string | undefined };

/** Below this length parsing a time is cheaper than memoizing it. */
const FEW = 16;

export function compareEntries(a: EntryOrder, b: EntryOrder): number {
  return compareAt(a, b, secondsOf(a.time) - secondsOf(b.time));
}

function compareWithTimes(entries: readonly EntryOrder[]): (a: EntryOrder, b: EntryOrder) => number {
  const seconds = new Map(entries.map((entry) => [entry, secondsOf(entry.time)]));
  return (a, b) => compareAt(a, b, seconds.get(a)! - seconds.get(b)!);
}

function compareAt(a: EntryOrder, b: EntryOrder, seconds: number): number {
  return (
    compareBytes(a.operation ?? '', b.operation ?? '') ||
    seconds ||
    compareBytes(a.manager ?? '', b.manager ?? '') ||
    compareBytes(a.apiVersion ?? '', b.apiVersion ?? '') ||
    compareBytes(a.subresource ?? '', b.subresource ?? '')
  );
}

export function secondsOf(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

function newEntry({ manager, operation, apiVersion, time, subresource }: Owner, set: FieldSet): ManagedFieldsEntry {
  const entry: { -readonly [K in keyof ManagedFieldsEntry]: ManagedFieldsEntry[K] } = {};
  if (manager !== '') entry.manager = manager;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time !== undefined) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = set;
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

/** The entries as JSON text. Recurring entries are encoded once. */
export function encodeManagedFields(entries: readonly ManagedFieldsEntry[]): string {
  return `[${entries.map(entryText).join(',')}]`;
}

function entryText(entry: ManagedFieldsEntry): string {
  const fields = entry.fieldsV1 && sharedText(entry.fieldsV1);
  if (fields === undefined) return encodeJson(entry);
  let text = '';
  for (const key in entry) {
    const value = entry[key as keyof ManagedFieldsEntry];
    if (value === undefined) continue;
    const member = key === 'fieldsV1' ? fields : typeof value === 'string' && PLAIN.test(value) ? `"${value}"` : encodeJson(value);
    text += `${text === '' ? '{' : ','}"${key}":${member}`;
  }
  return `${text}}`;
}
