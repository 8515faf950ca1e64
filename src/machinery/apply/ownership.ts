import { encodeJson } from '../json/encode-json.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { ObjectSchema } from '../schema.ts';
import { type Comparison, compareValues } from './compare.ts';
import { difference, type FieldSet, intersection, isEmpty, pathsOf, union, unionOf } from './field-set.ts';
import { mergeValues, removeFields } from './merge.ts';
import { fieldsOfObject, reconcileWithSchema, withNamedFields } from './object-fields.ts';
import { copyOwner, type Owner, type OwnerId, type Owners, withSet } from './owners.ts';
import type { PathElement } from './path-element.ts';
import { type Shape, shapeOf } from './shape.ts';
import { valuesEqual } from './typed-value.ts';
import { typedProblems } from './validate-typed.ts';

/** Another version of the same kind, in which some managers may have recorded their fields. */
export interface OtherVersion {
  readonly schema: ObjectSchema;
  readonly fromCurrent: (object: JsonObject) => JsonObject;
  readonly toCurrent: (object: JsonObject) => JsonObject;
}

/** Finds a version by its apiVersion; undefined if it is not served (any more): its managers are dropped. */
export type VersionLookup = (apiVersion: string) => OtherVersion | undefined;

/** The type and endpoint of a write, as far as ownership depends on them. */
export interface OwnershipRules {
  readonly apiVersion: string;
  readonly shape: Shape;
  /** Drops the fields that this endpoint does not write. */
  readonly filter: (set: FieldSet) => FieldSet;
  readonly versions?: VersionLookup | undefined;
}

export interface Conflict {
  readonly owner: Owner;
  readonly path: readonly PathElement[];
}

/** An apply would change fields of other managers. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  constructor(readonly conflicts: readonly Conflict[]) {
    super('conflicts with other managers');
  }
}

/** An object cannot be converted to a manager's version, which does not declare some of its fields. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

/** An object in one of the versions of its kind. */
interface VersionedObject {
  readonly apiVersion: string;
  readonly shape: Shape;
  readonly object: JsonObject;
}

interface Transition {
  readonly live: JsonObject;
  readonly updated: JsonObject;
  readonly owners: Owners;
  /** How the objects differ, if they were compared before. */
  readonly comparison?: Comparison | undefined;
}

/** Moves the changed fields to `self`: it owns what it added and modified, exclusively. Pauses between steps that may be long. */
export function* ownershipAfterUpdate(rules: OwnershipRules, transition: Transition, self: Owner): Generator<void, Owners> {
  const owners = reconcileOwners(rules, transition);
  yield;
  const { owners: others, comparisons } = yield* settle(rules, { ...transition, owners }, { self: self.id, force: true });
  const set = rules.filter(comparisons.current.changed);
  if (isEmpty(set)) return others;
  return new Map(others).set(self.id, { ...self, set });
}

export interface ApplyResult {
  /** Undefined when the apply changes no value. */
  readonly object: JsonObject | undefined;
  readonly owners: Owners;
}

interface ApplyTransition {
  readonly live: JsonObject;
  readonly config: JsonObject;
  readonly owners: Owners;
  readonly force: boolean;
}

/** Merges a configuration into the object and updates ownership. Throws ConflictError. Pauses between steps that may be long. */
export function* applyConfig(rules: OwnershipRules, transition: ApplyTransition, self: Owner): Generator<void, ApplyResult> {
  const { live, config, force } = transition;
  const owners = reconcileOwners(rules, { live, owners: transition.owners });
  const last = owners.get(self.id);
  const merged = (mergeValues(rules.shape, live, config) ?? {}) as JsonObject;
  yield;
  const set = rules.filter(fieldsOfObject(rules.shape, config));
  yield;
  const withSelf = new Map(owners).set(self.id, { ...self, set });
  const object = last === undefined || isEmpty(last.set) ? merged : prune(rules, { merged, owners: withSelf, last });
  yield;
  const settled = yield* settle(rules, { live, updated: object, owners: withSelf }, { self: self.id, force });
  yield;
  return { object: valuesEqual(live, object) ? undefined : object, owners: settled.owners };
}

// Drops entries of versions that are no longer served; converts those of an older schema.
function reconcileOwners(rules: OwnershipRules, { owners }: { live: JsonObject; owners: Owners }): Owners {
  const result = new Map<OwnerId, Owner>();
  for (const owner of owners.values()) {
    const shape = shapeAt(rules, owner.apiVersion);
    if (shape !== undefined) result.set(owner.id, withSet(owner, reconcileWithSchema(owner.set, shape)));
  }
  return result;
}

function shapeAt(rules: OwnershipRules, apiVersion: string): Shape | undefined {
  if (apiVersion === rules.apiVersion) return rules.shape;
  const other = rules.versions?.(apiVersion);
  return other === undefined ? undefined : shapeOf(other.schema);
}

interface Change {
  /** What was added or modified. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

interface Settlement {
  readonly owners: Owners;
  readonly comparisons: Comparisons;
}

// Removes the changed fields from all other sets; without force a field in one of them is a conflict.
function* settle(
  rules: OwnershipRules,
  transition: Transition,
  { self, force }: { self: OwnerId; force: boolean },
): Generator<void, Settlement> {
  const comparisons = new Comparisons(rules, transition);
  const result = new Map<OwnerId, Owner>();
  const conflicts: Conflict[] = [];
  for (const owner of sortedById(transition.owners)) {
    if (owner.id === self) {
      if (!isEmpty(owner.set)) result.set(owner.id, owner);
      continue;
    }
    const comparison = comparisons.at(owner.apiVersion);
    yield;
    if (comparison === undefined) continue;
    const overlap = intersection(owner.set, comparison.changed);
    if (!isEmpty(overlap)) for (const path of pathsOf(overlap)) conflicts.push({ owner, path });
    const left = difference(difference(owner.set, overlap), comparison.removed);
    if (!isEmpty(left)) result.set(owner.id, withSet(owner, left));
    yield;
  }
  if (!force && conflicts.length > 0) throw new ConflictError(conflicts);
  return { owners: result, comparisons };
}

function sortedById(owners: Owners): Owner[] {
  const sorted = [...owners.values()];
  return sorted.length > 1 ? sorted.sort((a, b) => (a.id < b.id ? -1 : 1)) : sorted;
}

// The change, compared in every version that a manager used, at most once each.
class Comparisons {
  private currentChange: Change | undefined;
  private readonly others = new Map<string, Change | undefined>();

  constructor(
    private readonly rules: OwnershipRules,
    private readonly transition: Transition,
  ) {}

  /** Not needed by an apply whose manager is alone. */
  get current(): Change {
    const { live, updated, comparison } = this.transition;
    this.currentChange ??= this.changeOf(comparison ?? compareValues(this.rules.shape, live, updated));
    return this.currentChange;
  }

  at(apiVersion: string): Change | undefined {
    if (apiVersion === this.rules.apiVersion) return this.current;
    if (!this.others.has(apiVersion)) this.others.set(apiVersion, this.compareAt(apiVersion));
    return this.others.get(apiVersion);
  }

  private compareAt(apiVersion: string): Change | undefined {
    const other = this.rules.versions?.(apiVersion);
    if (other === undefined) return undefined;
    const shape = shapeOf(other.schema);
    const live = fitting(shape, other.fromCurrent(this.transition.live), 'failed to convert old object');
    const updated = fitting(shape, other.fromCurrent(this.transition.updated), 'failed to convert new object');
    return this.changeOf(compareValues(shape, live, updated));
  }

  private changeOf({ added, modified, removed }: Comparison): Change {
    const { filter } = this.rules;
    return { changed: union(filter(modified), filter(added)), removed: filter(removed) };
  }
}

interface PruneInput {
  readonly merged: JsonObject;
  readonly owners: Owners;
  /** What the applier owned after its last apply. */
  readonly last: Owner;
}

/**
 * Removes fields that the applier's last configuration had, this one lacks, and no one else owns. Uses the version of the last apply, whose paths
 * they are.
 */
function prune(rules: OwnershipRules, { merged, owners, last }: PruneInput): JsonObject {
  const current: VersionedObject = { apiVersion: rules.apiVersion, shape: rules.shape, object: merged };
  const start = convert(rules, current, { apiVersion: last.apiVersion, failure: `${PRUNING}: ${MERGED} to last applied version` });
  if (start === undefined) return merged;
  const lastFields = withNamedFields(last.set, start.shape);
  const withOwned = keepOwned(rules, { merged: start, pruned: withoutFields(start, lastFields) }, owners);
  const failure = `${PRUNING}: failed add back dangling items: ${PRUNED} to last applied version`;
  const pruned = convert(rules, withOwned, { apiVersion: last.apiVersion, failure }) ?? start;
  const removed = difference(namedFieldsOf(start), namedFieldsOf(pruned));
  const result = withoutFields(start, intersection(removed, lastFields));
  return convert(rules, result, { apiVersion: rules.apiVersion, failure: PRUNING })?.object ?? merged;
}

const PRUNING = 'failed to prune fields';
const MERGED = 'failed to convert merged object';
const PRUNED = 'failed to convert pruned object';

// Restores fields that managers still own (including the new configuration's): first in the current version, then in the others.
function keepOwned(rules: OwnershipRules, start: { merged: VersionedObject; pruned: VersionedObject }, owners: Owners): VersionedObject {
  let { merged, pruned } = start;
  for (const [apiVersion, owned] of ownedByVersion(owners, merged.apiVersion)) {
    const adding = `${PRUNING}: failed add back owned items`;
    const mergedThere = convert(rules, merged, { apiVersion, failure: `${adding}: ${MERGED} at version ${apiVersion}` });
    const prunedThere = convert(rules, pruned, { apiVersion, failure: `${adding}: ${PRUNED} at version ${apiVersion}` });
    if (mergedThere === undefined || prunedThere === undefined) continue;
    const stay = union(namedFieldsOf(prunedThere), withNamedFields(owned, mergedThere.shape));
    merged = mergedThere;
    pruned = withoutFields(mergedThere, difference(namedFieldsOf(mergedThere), stay));
  }
  return pruned;
}

function ownedByVersion(owners: Owners, first: string): Map<string, FieldSet> {
  const byVersion = new Map<string, FieldSet[]>();
  for (const { apiVersion, set } of [...owners.values()].sort((a, b) => Number(b.apiVersion === first) - Number(a.apiVersion === first))) {
    const sets = byVersion.get(apiVersion);
    if (sets === undefined) byVersion.set(apiVersion, [set]);
    else sets.push(set);
  }
  return new Map([...byVersion].map(([apiVersion, sets]) => [apiVersion, unionOf(sets)]));
}

function namedFieldsOf({ shape, object }: VersionedObject): FieldSet {
  return withNamedFields(fieldsOfObject(shape, object), shape);
}

function withoutFields(versioned: VersionedObject, fields: FieldSet): VersionedObject {
  if (isEmpty(fields)) return versioned;
  return { ...versioned, object: (removeFields(versioned.shape, versioned.object, fields) ?? {}) as JsonObject };
}

interface Conversion {
  readonly apiVersion: string;
  /** Upstream's prefix for objects that do not fit the version. */
  readonly failure: string;
}

function convert(rules: OwnershipRules, from: VersionedObject, { apiVersion, failure }: Conversion): VersionedObject | undefined {
  if (from.apiVersion === apiVersion) return from;
  const source = from.apiVersion === rules.apiVersion ? undefined : rules.versions?.(from.apiVersion);
  const object = source === undefined ? from.object : source.toCurrent(from.object);
  if (apiVersion === rules.apiVersion) return { apiVersion, shape: rules.shape, object: fitting(rules.shape, object, failure) };
  const target = rules.versions?.(apiVersion);
  if (target === undefined) return undefined;
  const shape = shapeOf(target.schema);
  return { apiVersion, shape, object: fitting(shape, target.fromCurrent(object), failure) };
}

/** Versions of a custom resource may declare different fields. */
function fitting(shape: Shape, object: JsonObject, failure: string): JsonObject {
  const problems = typedProblems(shape, object);
  if (problems !== undefined) throw new ConversionError(`${failure}: ${problems}`);
  return object;
}

/** At most ten managers from updates are remembered; the oldest are merged into one for each version. */
export function capUpdaters(owners: Owners): Owners {
  const updaters = [...owners.values()].filter((owner) => owner.operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return owners;
  const ages = new Map(updaters.map((owner) => [owner, timeOf(owner)]));
  updaters.sort((a, b) => ages.get(a)! - ages.get(b)! || (a.id < b.id ? -1 : 1));
  const result = new Map(owners);
  const buckets = new Map<string, Bucket>();
  let count = updaters.length;
  for (const owner of updaters) {
    if (count <= MAX_UPDATERS) break;
    const bucket = buckets.get(owner.apiVersion);
    if (bucket === undefined) buckets.set(owner.apiVersion, { first: owner, merged: [] });
    else {
      bucket.merged.push(owner);
      count--;
    }
  }
  for (const bucket of buckets.values()) if (bucket.merged.length > 0) fillBucket(result, bucket);
  return result;
}

/** The oldest updaters of a version. */
interface Bucket {
  readonly first: Owner;
  /** Merged into the bucket. */
  readonly merged: Owner[];
}

const MAX_UPDATERS = 10;
const BUCKET = 'ancient-changes';

function timeOf({ time }: Owner): number {
  return Date.parse(time ?? '1970-01-01T00:00:00Z');
}

function fillBucket(owners: Map<OwnerId, Owner>, { first, merged }: Bucket): void {
  const id = encodeJson({ manager: BUCKET, operation: 'Update', apiVersion: first.apiVersion });
  const existing = owners.get(id);
  const base = existing ?? { ...copyOwner(first, { id, manager: BUCKET }), subresource: '' };
  if (existing === undefined) owners.delete(first.id);
  for (const owner of merged) owners.delete(owner.id);
  // The newest time: when the bucket last changed.
  owners.set(id, copyOwner(base, { set: unionOf([base.set, ...merged.map(({ set }) => set)]), time: merged.at(-1)!.time }));
}
