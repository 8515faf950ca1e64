import { type Soon, whenKnown } from '#base';
import { StatusError } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import { beforeUpdate, demandResourceVersion, type WriteContext } from '../registry/lifecycle.ts';
import { warn } from '../request/api-request.ts';
import { type CachedObject, ConvertedObject, type VersionedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import { fromRuled, ruledCurrent, ruledResource, toRuled, toStoredForm } from './object-forms.ts';
import { type AdmissionRequest, admissionAttributes, groupResource, type ResourceCall, scopeOf } from './resource-call.ts';
import { parseUintError } from './resource-version.ts';
import type { WriteOptions } from './write-options.ts';

/** A change to an existing object, as a function of what it is now: it runs again when another write came first. */
export interface ObjectChange {
  readonly options: WriteOptions;
  /** The object as it shall be, with its fields owned, in the version of the request. */
  compute(live: KubeObject): Promise<KubeObject> | KubeObject;
  /** What to do when there is no such object; without it, the answer is NotFound. */
  readonly create?: () => Promise<VersionedObject>;
  /** A PUT replaces whatever is there only if the kind allows that. */
  readonly replaces?: boolean;
  /** The uid that the client says the object has. */
  readonly expectedUid?: string | undefined;
}

export interface ChangeResult {
  readonly object: VersionedObject;
  readonly created: boolean;
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export async function updateObject(call: ResourceCall, change: ObjectChange): Promise<ChangeResult> {
  const { resource, namespace, name } = call;
  for (;;) {
    const current = await resource.storage!.get(namespace, name);
    if (current === undefined) {
      checkUid(call, change.expectedUid ?? '', '');
      if (change.create === undefined) throw StatusError.notFound(groupResource(call), name);
      return { object: await change.create(), created: true };
    }
    const updated = await tryUpdate(call, current, change);
    if (updated !== undefined) return { object: updated, created: false };
  }
}

/**
 * Waits also for what is known at once, on purpose: so writes that come together take each step together, and code and data of a step are in the
 * processor's caches for all of them. One after the other, they take half as long again.
 */
async function tryUpdate(call: ResourceCall, current: CachedObject, change: ObjectChange): Promise<VersionedObject | undefined> {
  const { resource, deps } = call;
  const { dryRun, raw } = change.options;
  if (resource.remote !== undefined) await loadVersions(resource, [current]);
  const live = current.as(resource).object;
  const computed = await change.compute(live);
  const pinned = checkPreconditions(call, computed, live, change.replaces === true);
  const attributes = { operation: 'UPDATE', oldObject: live, dryRun, options: raw } as const;
  const admitted = (await deps.admission.admit(admissionAttributes(call, Object.assign({ object: computed }, attributes)))) as KubeObject;
  const ruled = toRuled(resource, admitted);
  const reserving = reserve(call, ruled, { current, dryRun });
  const reserved = reserving && (await reserving);
  try {
    const prepared = await validated(call, reserved?.object ?? ruled, { current, attributes });
    if (dryRun) return dryResult(call, prepared, current);
    const written = await write(call, current, prepared);
    if (reserved) await (written === undefined ? reserved.release() : reserved.commit());
    if (written === undefined && pinned) throw StatusError.conflict(groupResource(call), call.name, MODIFIED);
    if (written !== undefined && resource.remote !== undefined) await loadVersions(resource, [written]);
    return written?.as(resource);
  } catch (error) {
    await reserved?.release();
    throw error;
  }
}

function reserve(
  { resource, subresource }: ResourceCall,
  object: KubeObject,
  { current, dryRun }: { current: CachedObject; dryRun: boolean },
) {
  return subresource === '' ? ruledResource(resource).reserve?.(object, current.object, dryRun) : undefined;
}

interface Validating {
  readonly current: CachedObject;
  readonly attributes: Omit<AdmissionRequest, 'object'>;
}

function validated(call: ResourceCall, object: KubeObject, { current, attributes }: Validating): Soon<KubeObject> {
  const { resource, deps } = call;
  const context = writeContext(call);
  const old = ruledCurrent(resource, current);
  const prepared = beforeUpdate(object, old, context);
  // What is unwise in a specification is not told again to those who only report a status.
  const { strategy } = context.resource;
  const warnings = call.subresource === 'status' ? strategy.statusWarnings?.(prepared) : strategy.warnings?.(prepared, old);
  for (const warning of warnings ?? []) warn(call.request, warning);
  const served = fromRuled(resource, prepared);
  const admitted = deps.admission.validate(admissionAttributes(call, Object.assign({ object: served }, attributes)));
  return whenKnown(admitted, () => prepared);
}

export function writeContext(call: ResourceCall): WriteContext {
  const { resource, subresource, namespace, deps } = call;
  return { resource: ruledResource(resource), subresource, namespace, scope: scopeOf(call), random: deps.random };
}

/** Whether the client named the state that its change is for: then another write in between is a conflict, not a reason to try again. */
function checkPreconditions(call: ResourceCall, computed: KubeObject, live: KubeObject, replaces: boolean): boolean {
  const { resource, name } = call;
  const { resourceVersion = '', uid = '' } = computed.metadata;
  if (replaces) checkUid(call, uid, live.metadata.uid ?? '');
  if (resourceVersion === '' || resourceVersion === '0') {
    if (replaces && resource.strategy.allowUnconditionalUpdate === false) demandResourceVersion(resource, name);
    return false;
  }
  const malformed = parseUintError(resourceVersion);
  if (malformed !== undefined) throw new Error(malformed);
  if (resourceVersion !== live.metadata.resourceVersion) throw StatusError.conflict(groupResource(call), name, MODIFIED);
  return replaces;
}

/** A client that names the object by its uid means no other, and no new one either. */
function checkUid(call: ResourceCall, wanted: string, found: string): void {
  if (wanted === '' || wanted === found) return;
  const key = call.resource.storage!.keyOf(call.namespace, call.name);
  const mismatch = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${mismatch}`;
  throw StatusError.conflict(groupResource(call), call.name, why);
}

function write(call: ResourceCall, current: CachedObject, prepared: KubeObject): Soon<CachedObject | undefined> {
  const isFinal = isDeletable(prepared) && !call.resource.strategy.isDeletionHeld?.(prepared);
  return whenKnown(toStoredForm(call.resource, prepared), (stored) =>
    isFinal ? finishDeletion(call, current, { prepared, stored }) : call.resource.storage!.update(current, stored),
  );
}

/** The last finalizer of an object that is being deleted was removed: now it goes. */
export function isDeletable({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.length && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

async function finishDeletion(
  { resource }: ResourceCall,
  current: CachedObject,
  { prepared, stored }: { prepared: KubeObject; stored: KubeObject },
): Promise<CachedObject | undefined> {
  const revision = await resource.storage!.delete(current);
  if (revision === undefined) return undefined;
  await ruledResource(resource).released?.(prepared);
  return current.replacedBy(stored, current.revision);
}

function dryResult({ resource }: ResourceCall, prepared: KubeObject, current: CachedObject): VersionedObject {
  const versioned = { ...prepared, metadata: { ...prepared.metadata, resourceVersion: String(current.revision) } };
  return new ConvertedObject(fromRuled(resource, versioned), current.revision);
}
