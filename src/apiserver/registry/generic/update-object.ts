import { type MaybePromise, mapMaybePromise, TurnBudget } from '#base';
import { StatusError } from '#machinery';
import { parseUintError } from '../../request/resource-version.ts';
import { type CachedObject, ConvertedObject, type VersionedObject } from '../../watch-cache/cached-object.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { loadVersions } from '../../watch-cache/load-versions.ts';
import { beforeUpdate, resourceVersionRequired } from './lifecycle.ts';
import { fromInternal, internalCurrent, internalResource, toInternal, toStoredForm } from './object-forms.ts';
import {
  type AdmissionRequest,
  type CommonOptions,
  groupResourceOf,
  inVersion,
  type ObjectWrite,
  STEP_MS,
  withReservation,
  writeContext,
} from './object-write.ts';
import { AFTER_ADMISSION, withUniqueOwners } from './owner-references.ts';

/** A change of an object, computed from its current state; computed again after a conflict. */
export interface ObjectChange {
  readonly options: CommonOptions;
  /** The new object with managedFields, in the requested version. */
  compute(live: KubeObject): Promise<KubeObject> | KubeObject;
  /** Creates the object if it does not exist. Undefined: NotFound. */
  readonly create?: () => Promise<VersionedObject>;
  /** A PUT: the kind may require a resourceVersion, and a uid in the body is a precondition. */
  readonly replaces?: boolean;
  /** The request changes a part of the object (a scale): it needs no resourceVersion even if the kind requires one. */
  readonly isPartial?: boolean;
  /** The server's own change of a valid object, such as a binding: neither admitted nor validated, as upstream does. */
  readonly isInternal?: boolean;
  /** The uid in the body: 409 if the object is absent and could be created. */
  readonly expectedUid?: string | undefined;
}

export interface ChangeResult {
  readonly object: VersionedObject;
  readonly created: boolean;
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export async function updateObject(write: ObjectWrite, change: ObjectChange): Promise<ChangeResult> {
  const { resource, namespace, name } = write;
  for (;;) {
    const current = await resource.storage.get(namespace, name);
    if (current === undefined) {
      if (change.create === undefined) throw StatusError.notFound(groupResourceOf(write), name);
      checkUid(write, change.expectedUid ?? '', '');
      return { object: await change.create(), created: true };
    }
    const updated = await tryUpdate(write, current, change);
    if (updated !== undefined) return { object: updated, created: false };
  }
}

/**
 * Awaits available values on purpose: concurrent writes then take each step together, while its code is in the CPU caches. One after the
 * other they take 1.5 times as long.
 */
async function tryUpdate(write: ObjectWrite, current: CachedObject, change: ObjectChange): Promise<VersionedObject | undefined> {
  const { resource, subresource } = write;
  const { dryRun, raw } = change.options;
  const turn = new TurnBudget(write.clock, STEP_MS);
  if (resource.remote !== undefined) await loadVersions(resource, [current]);
  const live = current.as(resource).object;
  const computed = await change.compute(live);
  if (turn.isSpent) await turn.next();
  const isPinned = checkPreconditions(write, computed, { live, change });
  const attributes = { operation: 'UPDATE', oldObject: live, dryRun, options: raw } as const;
  const admitted = change.isInternal ? computed : ((await write.admit(Object.assign({ object: computed }, attributes))) as KubeObject);
  if (turn.isSpent) await turn.next();
  const internal = toInternal(resource, change.isInternal ? admitted : withUniqueOwners(admitted, write.warn, AFTER_ADMISSION));
  const reserving = subresource === '' ? internalResource(resource).reserve?.(internal, current.object, dryRun) : undefined;
  const written = await withReservation(reserving, dryRun, async (reserved) => {
    const object = reserved ?? internal;
    const prepared = change.isInternal ? object : await validated(write, object, { current, attributes });
    return dryRun ? dryResult(write, prepared, current) : store(write, current, prepared);
  });
  if (written === undefined && isPinned) throw StatusError.conflict(groupResourceOf(write), write.name, MODIFIED);
  if (written === undefined || written instanceof ConvertedObject) return written;
  return resource.remote === undefined ? written.as(resource) : inVersion(resource, written);
}

interface ValidatedUpdate {
  readonly current: CachedObject;
  readonly attributes: Omit<AdmissionRequest, 'object'>;
}

function validated(write: ObjectWrite, object: KubeObject, { current, attributes }: ValidatedUpdate): MaybePromise<KubeObject> {
  const { resource } = write;
  const context = writeContext(write);
  const old = internalCurrent(resource, current);
  return mapMaybePromise(beforeUpdate(object, old, context), (prepared) => afterValidation(write, prepared, { old, attributes }));
}

function afterValidation(
  write: ObjectWrite,
  prepared: KubeObject,
  { old, attributes }: Pick<ValidatedUpdate, 'attributes'> & { readonly old: KubeObject },
): MaybePromise<KubeObject> {
  const { resource } = write;
  // Status updates do not repeat the warnings of the spec.
  const { strategy } = internalResource(resource);
  const warnings = write.subresource === 'status' ? strategy.statusWarnings?.(prepared) : strategy.warnings?.(prepared, old);
  for (const warning of warnings ?? []) write.warn(warning);
  const served = fromInternal(resource, prepared);
  return mapMaybePromise(write.validate(Object.assign({ object: served }, attributes)), () => prepared);
}

interface ComputedChange {
  readonly live: KubeObject;
  readonly change: Pick<ObjectChange, 'replaces' | 'isPartial'>;
}

/** Whether the client set a resourceVersion: another write in between is then a conflict, not retried. */
function checkPreconditions(write: ObjectWrite, computed: KubeObject, { live, change }: ComputedChange): boolean {
  const { resource, name } = write;
  const { replaces = false, isPartial } = change;
  const { resourceVersion = '', uid = '' } = computed.metadata;
  if (replaces) checkUid(write, uid, live.metadata.uid ?? '');
  if (resourceVersion === '' || resourceVersion === '0') {
    if (replaces && !isPartial && resource.strategy.allowUnconditionalUpdate === false) throw resourceVersionRequired(resource, name);
    return false;
  }
  const malformed = parseUintError(resourceVersion);
  if (malformed !== undefined) throw new Error(malformed);
  if (resourceVersion !== live.metadata.resourceVersion) throw StatusError.conflict(groupResourceOf(write), name, MODIFIED);
  return replaces;
}

function checkUid(write: ObjectWrite, expected: string, actual: string): void {
  if (expected === '' || expected === actual) return;
  const key = write.resource.storage.keyOf(write.namespace, write.name);
  const mismatch = `Precondition failed: UID in precondition: ${expected}, UID in object meta: ${actual}`;
  const message = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${mismatch}`;
  throw StatusError.conflict(groupResourceOf(write), write.name, message);
}

async function store({ resource }: ObjectWrite, current: CachedObject, prepared: KubeObject): Promise<CachedObject | undefined> {
  const stored = await toStoredForm(resource, prepared);
  const isFinal = isDeletable(prepared) && !resource.strategy.isDeletionHeld?.(prepared);
  if (!isFinal) return resource.storage.update(current, stored);
  const revision = await resource.storage.delete(current);
  if (revision === undefined) return undefined;
  await internalResource(resource).released?.(prepared);
  return current.replacedBy(stored, current.revision);
}

/** The update removed the last finalizer of an object that is being deleted. */
function isDeletable({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.length && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

function dryResult({ resource }: ObjectWrite, prepared: KubeObject, current: CachedObject): ConvertedObject {
  const versioned = { ...prepared, metadata: { ...prepared.metadata, resourceVersion: String(current.revision) } };
  return new ConvertedObject(fromInternal(resource, versioned), current.revision);
}
