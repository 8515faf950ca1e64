import { formatTime, StatusError } from '#machinery';
import { type KubeObject, withoutMetadata } from '../registry/kube-object.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import type { Propagation } from '../registry/strategy.ts';
import { warn } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { CachedObject, VersionedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import { type DeleteOptions, deleteOptions } from './delete-options.ts';
import { ruledResource, toStoredForm } from './object-forms.ts';
import { admissionAttributes, groupResource, type ResourceCall } from './resource-call.ts';

export async function handleDelete(call: ResourceCall): Promise<ApiResponse> {
  const options = await deleteOptions(call);
  const { object, gone } = await deleteObject(call, options);
  const { resource } = call;
  if (!gone || resource.strategy.returnsDeletedObject) return { type: 'object', code: gone ? 200 : heldCode(options), resource, object };
  return { type: 'plain', code: 200, object: deletedStatus(call, object.object) };
}

/** A deletion that a finalizer or a grace period holds up is accepted, not done, for those who ask so in the old way that dependents go too. */
function heldCode({ orphanDependents }: DeleteOptions): number {
  return orphanDependents === false ? 202 : 200;
}

function deletedStatus({ resource, name }: ResourceCall, object: KubeObject) {
  const details = { name, ...(resource.group && { group: resource.group }), kind: resource.resource, uid: object.metadata.uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

interface Deletion {
  readonly object: VersionedObject;
  /** False while finalizers or a grace period hold the object. */
  readonly gone: boolean;
}

export async function deleteObject(call: ResourceCall, options: DeleteOptions): Promise<Deletion> {
  const { resource, namespace, name } = call;
  for (;;) {
    const current = await resource.storage!.get(namespace, name);
    if (current === undefined) throw StatusError.notFound(groupResource(call), name);
    checkDeletePreconditions(call, options, current.object);
    const deletion = await tryDelete(call, current, options);
    if (deletion !== undefined) return deletion;
  }
}

function checkDeletePreconditions(call: ResourceCall, { uid, resourceVersion }: DeleteOptions, object: KubeObject): void {
  const subject = { group: call.resource.group, resource: call.resource.kind };
  if (uid !== undefined && uid !== object.metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid}). The object might have been deleted and then recreated`;
    throw StatusError.conflict(subject, call.name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion}). The object might have been modified`;
    throw StatusError.conflict(subject, call.name, why);
  }
}

async function tryDelete(call: ResourceCall, current: CachedObject, options: DeleteOptions): Promise<Deletion | undefined> {
  const { resource, deps } = call;
  if (resource.remote !== undefined) await loadVersions(resource, [current]);
  const request = {
    operation: 'DELETE',
    object: undefined,
    oldObject: current.as(resource).object,
    dryRun: options.dryRun,
    options: options.raw,
  } as const;
  await deps.admission.admit(admissionAttributes(call, request));
  await deps.admission.validate(admissionAttributes(call, request));
  for (const warning of resource.strategy.deletionWarnings?.(current.object, options) ?? []) warn(call.request, warning);
  const marked = markDeleted(call, current.object, options);
  if (isHeld(marked) || resource.strategy.isDeletionHeld?.(marked)) return held(call, current, marked, options);
  return finish(call, current, marked, options);
}

function isHeld({ metadata }: KubeObject): boolean {
  return Boolean(metadata.finalizers?.length) || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
}

async function held(call: ResourceCall, current: CachedObject, marked: KubeObject, options: DeleteOptions): Promise<Deletion | undefined> {
  const { resource } = call;
  if (options.dryRun) return { object: await inVersion(resource, current.replacedBy(marked, current.revision)), gone: false };
  const written = await resource.storage!.update(current, await toStored(resource, current, marked));
  return written && { object: await inVersion(resource, written), gone: false };
}

async function finish(
  call: ResourceCall,
  current: CachedObject,
  marked: KubeObject,
  options: DeleteOptions,
): Promise<Deletion | undefined> {
  const { resource } = call;
  const graceful = resource.strategy.gracePeriodSeconds !== undefined;
  const last = graceful ? marked : current.object;
  if (options.dryRun) return { object: await inVersion(resource, current.replacedBy(last, current.revision)), gone: true };
  const revision = await resource.storage!.delete(current);
  if (revision === undefined) return undefined;
  await ruledResource(resource).released?.(current.object);
  return { object: await inVersion(resource, current.replacedBy(last, revision)), gone: true };
}

/** What was stored in a version that others replaced is written in the one that is stored now. */
function toStored(resource: ServedResource, current: CachedObject, marked: KubeObject): Promise<KubeObject> | KubeObject {
  return current.isOutdated ? toStoredForm(resource, { ...current.as(resource).object, metadata: marked.metadata }) : marked;
}

async function inVersion(resource: ServedResource, object: CachedObject): Promise<VersionedObject> {
  if (resource.remote !== undefined) await loadVersions(resource, [object]);
  return object.as(resource);
}

/** The object with its deletion begun: finalizers for the propagation asked for, a deadline when something holds it. */
function markDeleted(call: ResourceCall, object: KubeObject, options: DeleteOptions): KubeObject {
  const { resource, deps } = call;
  const finalizers = deletionFinalizers(object, options, resource.strategy.defaultPropagation);
  const grace = graceFor(call, object, options);
  const { metadata } = object;
  const begun = metadata.deletionTimestamp !== undefined;
  const sooner = begun && grace < (metadata.deletionGracePeriodSeconds ?? 0);
  const now = deps.clock.now();
  const timing = begun && !sooner ? {} : { deletionTimestamp: formatTime(now + grace * 1000), deletionGracePeriodSeconds: grace };
  const generation = !begun && metadata.generation ? { generation: metadata.generation + 1 } : {};
  const changes = Object.assign(timing, generation, finalizers.length > 0 && { finalizers });
  const marked = { ...object, metadata: Object.assign({}, withoutMetadata(object, 'finalizers').metadata, changes) };
  return resource.strategy.prepareForDelete?.(marked) ?? marked;
}

function graceFor({ resource }: ResourceCall, object: KubeObject, options: DeleteOptions): number {
  const begun = object.metadata.deletionTimestamp !== undefined;
  const grace = resource.strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds) ?? 0;
  if (!begun) return grace;
  // A deletion under way can be hastened, never put off.
  return options.gracePeriodSeconds === undefined
    ? (object.metadata.deletionGracePeriodSeconds ?? 0)
    : Math.min(grace, object.metadata.deletionGracePeriodSeconds ?? 0);
}

const PROPAGATION_FINALIZERS = { Foreground: 'foregroundDeletion', Orphan: 'orphan', Background: undefined } as const;

function deletionFinalizers(object: KubeObject, options: DeleteOptions, byDefault: Propagation = 'Background'): readonly string[] {
  const present = object.metadata.finalizers ?? [];
  const others = present.filter((name) => name !== 'orphan' && name !== 'foregroundDeletion');
  if (byDefault === 'Unsupported') return others;
  const policy = policyOf(options);
  const chosen = present.find((name) => name === 'orphan' || name === 'foregroundDeletion');
  const wanted = policy === undefined && chosen !== undefined ? chosen : PROPAGATION_FINALIZERS[policy ?? byDefault];
  return wanted === undefined ? others : [...others, wanted];
}

function policyOf({ propagationPolicy, orphanDependents }: DeleteOptions): keyof typeof PROPAGATION_FINALIZERS | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background';
  return propagationPolicy;
}
