import { runSteps } from '#base';
import { type StatusCause, StatusError } from '../errors/status-error.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { apiVersionOf, type GroupVersionKind, type ObjectSchema } from '../schema.ts';
import { goQuote } from '../values/go-format.ts';
import { SERVER_FIELDS, type WrittenFields } from './field-filter.ts';
import { difference, EMPTY_SET, hasPath, isEmpty } from './field-set.ts';
import { fieldsOfLastApplied, syncLastApplied } from './last-applied.ts';
import { managedFieldsOf, metadataText, withManagedFields, withoutManagedFields } from './managed-object.ts';
import {
  encodeOwners,
  type ManagedFieldsEntry,
  ManagedFieldsError,
  NO_OWNERS,
  newOwner,
  type Owner,
  type Owners,
  storedOwners,
  withSet,
} from './owners.ts';
import {
  type ApplyResult,
  applyConfig,
  type Conflict,
  ConflictError,
  ConversionError,
  type OwnershipRules,
  type VersionLookup,
} from './ownership.ts';
import { pathText } from './path-element.ts';
import { emptyObject } from './shape.ts';
import { valuesEqual } from './typed-value.ts';
import { ownershipRules, updateOwners } from './update-managed-fields.ts';
import { typedProblems } from './validate-typed.ts';

export interface ApplyPatchOptions extends WrittenFields {
  /** The objects' type. The live object must be in encoded form: always-encoded fields are present. */
  readonly schema: ObjectSchema;
  readonly kind: GroupVersionKind;
  /** The stored object in the request's version; undefined when the apply creates it. */
  readonly live: object | undefined;
  /** The configuration as the client sent it: no defaults, nulls kept. */
  readonly applied: object;
  readonly manager: string;
  readonly force: boolean;
  readonly subresource?: string;
  /** RFC 3339, to the second. */
  readonly now: string;
  readonly versions?: VersionLookup | undefined;
}

/**
 * Server-side apply: the object with the configuration merged in and its managedFields settled. It is not decoded or defaulted yet and may hold
 * nulls. When nothing at all changes, it is the live object itself.
 *
 * Throws StatusError: 400 for another kind of object, 409 for conflicts, 500 (without a reason) for a configuration that does not fit the
 * schema, as upstream answers.
 */
export function applyPatch(options: ApplyPatchOptions): JsonObject {
  return runSteps(applySteps(options));
}

/** `applyPatch`, with a pause after each step whose cost grows with the object. */
export function* applySteps(options: ApplyPatchOptions): Generator<void, JsonObject> {
  const applied = options.applied as JsonObject;
  checkType(options.kind, applied);
  const live = options.live as JsonObject | undefined;
  const owners = liveOwners(live);
  const rules = ownershipRules({ ...options, apiVersion: apiVersionOf(options.kind) });
  checkConfig(rules, options.kind, applied);
  yield;
  const base = live === undefined ? emptyObject(options.schema) : withoutManagedFields(live);
  const started = owners.size === 0 ? yield* ownersBeforeFirstApply(options, base) : owners;
  const result = yield* applyOrConflict({ rules, options, base }, applied, started);
  const object = result.object ?? base;
  const synced = options.manager === KUBECTL ? syncLastApplied(object, applied) : object;
  yield;
  const entries = encodeOwners(result.owners);
  if (live !== undefined && synced === base && sameEntries(entries, live)) return live;
  return withManagedFields(synced, entries);
}

function sameEntries(entries: readonly ManagedFieldsEntry[] | undefined, live: JsonObject): boolean {
  return valuesEqual((entries ?? null) as unknown as JsonValue, managedFieldsOf(live) ?? null);
}

const KUBECTL = 'kubectl';

function checkType(kind: GroupVersionKind, applied: JsonObject): void {
  const sent = gvkOf(applied);
  if (sent !== gvkText(kind)) throw StatusError.badRequest(`invalid object type: ${sent}`);
}

function gvkOf({ apiVersion, kind }: JsonObject): string {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  const slash = text.indexOf('/');
  const group = slash < 0 ? '' : text.slice(0, slash);
  const version = slash < 0 ? text : text.slice(slash + 1);
  return gvkText({ group, version, kind: typeof kind === 'string' ? kind : '' });
}

function gvkText({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}

function liveOwners(live: JsonObject | undefined): Owners {
  try {
    return storedOwners(live === undefined ? undefined : managedFieldsOf(live));
  } catch (error) {
    if (error instanceof ManagedFieldsError) throw unclassified(`failed to decode managed fields: ${error.message}`);
    throw error;
  }
}

function checkConfig(rules: OwnershipRules, kind: GroupVersionKind, applied: JsonObject): void {
  if (managedFieldsOf(applied) !== undefined && managedFieldsOf(applied) !== null) {
    throw StatusError.badRequest('metadata.managedFields must be nil');
  }
  const problems = typedProblems(rules.shape, applied);
  if (problems === undefined) return;
  throw unclassified(`failed to create typed patch object (${configurationName(kind, applied)}): ${problems}`);
}

/** The error for a merged object that does not convert to its kind: values that pass for scalars, such as quantities, are read only then. */
export function conversionFailure(kind: GroupVersionKind, applied: JsonObject, detail: string): StatusError {
  const cause = `unable to convert unstructured object to ${gvkText(kind)}: ${detail}`;
  return unclassified(`failed to convert new object (${configurationName(kind, applied)}) to proper version: ${cause}`);
}

/** An applied object's name in upstream's messages. */
export function configurationName(kind: GroupVersionKind, applied: JsonObject): string {
  return `${metadataText(applied, 'namespace')}/${metadataText(applied, 'name')}; ${gvkText(kind)}`;
}

function unclassified(message: string): StatusError {
  return new StatusError({ code: 500, reason: '', message });
}

// An untracked object: all its fields get a manager, so that the first apply can conflict with it.
function ownersBeforeFirstApply(options: ApplyPatchOptions, live: JsonObject): Generator<void, Owners> {
  const writer = { ...options, apiVersion: apiVersionOf(options.kind), manager: 'before-first-apply' };
  return updateOwners(writer, { live: undefined, updated: live, owners: NO_OWNERS });
}

interface ApplyContext {
  readonly rules: OwnershipRules;
  readonly options: ApplyPatchOptions;
  readonly base: JsonObject;
}

function* applyOrConflict(context: ApplyContext, config: JsonObject, owners: Owners): Generator<void, ApplyResult> {
  const { rules, options, base } = context;
  const self = selfOwner(options, owners);
  const attempt = function* (force: boolean): Generator<void, ApplyResult> {
    return finished(yield* applyConfig(rules, { live: base, config, owners, force }, self), self.id, options.now);
  };
  try {
    return yield* attempt(options.force);
  } catch (error) {
    if (error instanceof ConversionError) throw unclassified(error.message);
    if (!(error instanceof ConflictError)) throw error;
    const conflicts = options.manager === KUBECTL ? conflictsBeyondLastApplied(rules, base, error) : error.conflicts;
    if (conflicts.length === 0) return yield* attempt(true);
    throw conflictStatus(conflicts);
  }
}

// The time of the last apply stays until one changes the object.
function selfOwner({ manager, kind, subresource = '' }: ApplyPatchOptions, owners: Owners): Owner {
  const identity = { manager: manager || 'unknown', operation: 'Apply', apiVersion: apiVersionOf(kind), subresource } as const;
  const fresh = newOwner(identity, EMPTY_SET, undefined);
  return { ...fresh, time: owners.get(fresh.id)?.time };
}

function finished({ object, owners }: ApplyResult, selfId: string, now: string): ApplyResult {
  const self = owners.get(selfId);
  if (self === undefined) return { object, owners };
  const set = difference(self.set, SERVER_FIELDS);
  const result = new Map(owners);
  if (isEmpty(set)) result.delete(selfId);
  else result.set(selfId, { ...withSet(self, set), ...(object !== undefined && { time: now }) });
  return { object, owners: result };
}

function conflictsBeyondLastApplied(rules: OwnershipRules, live: JsonObject, { conflicts }: ConflictError): readonly Conflict[] {
  const allowed = fieldsOfLastApplied(rules, live);
  return allowed === undefined ? conflicts : conflicts.filter(({ path }) => !hasPath(allowed, path));
}

function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const causes: StatusCause[] = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${ownerText(owner)}`,
    field: pathText(path),
  }));
  return StatusError.applyConflict(causes, conflictMessage(conflicts));
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${ownerText(first.owner)}: ${pathText(first.path)}`;
  }
  const lines: string[] = [];
  let current: Owner | undefined;
  for (const { owner, path } of conflicts) {
    if (owner !== current) lines.push(`conflicts with ${ownerText(owner)}:`);
    current = owner;
    lines.push(`- ${pathText(path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function ownerText({ manager, subresource, operation, apiVersion }: Owner): string {
  const name = goQuote(manager) + (subresource === '' ? '' : ` with subresource ${goQuote(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
