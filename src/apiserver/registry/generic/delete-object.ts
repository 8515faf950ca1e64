import { formatTime, StatusError } from '#machinery';
import type { CachedObject, VersionedObject } from '../../watch-cache/cached-object.ts';
import { type KubeObject, withoutMetadata } from '../../watch-cache/kube-object.ts';
import { loadVersions } from '../../watch-cache/load-versions.ts';
import { internalResource, toStoredForm } from './object-forms.ts';
import { type CommonOptions, groupResourceOf, inVersion, type ObjectWrite } from './object-write.ts';
import type { StoredResource } from './served-resource.ts';
import type { Propagation } from './strategy.ts';

const OWN_PRECONDITIONS = [
  ['UID', 'uid'],
  ['ResourceVersion', 'resourceVersion'],
] as const;

export interface DeleteOptions extends CommonOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface Deletion {
  readonly object: VersionedObject;
  /** False while finalizers or a grace period hold the object. */
  readonly isGone: boolean;
}

/** Deletes an object, or sets its deletionTimestamp while finalizers or a grace period hold it. Retries on conflicts. */
export async function deleteObject(write: ObjectWrite, options: DeleteOptions): Promise<Deletion> {
  const { resource, namespace, name } = write;
  for (;;) {
    const current = await resource.storage.get(namespace, name);
    if (current === undefined) throw StatusError.notFound(groupResourceOf(write), name);
    checkPreconditions(write, options, current.object);
    const deletion = await tryDelete(write, current, options);
    if (deletion !== undefined) return deletion;
  }
}

function checkPreconditions(write: ObjectWrite, { uid, resourceVersion }: DeleteOptions, object: KubeObject): void {
  const { resource, name } = write;
  if (resource.strategy.checksOwnPreconditions) {
    checkOwnPreconditions(write, { uid, resourceVersion }, object);
    return;
  }
  const subject = { group: resource.strategy.invalidGroup ?? resource.group, resource: resource.kind };
  if (uid !== undefined && uid !== object.metadata.uid) {
    const message = `the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid}). The object might have been deleted and then recreated`;
    throw StatusError.conflict(subject, name, message);
  }
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
    const message = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion}). The object might have been modified`;
    throw StatusError.conflict(subject, name, message);
  }
}

/** In the words of upstream's own storage of namespaces and definitions. */
function checkOwnPreconditions(
  write: ObjectWrite,
  expected: Pick<DeleteOptions, 'uid' | 'resourceVersion'>,
  { metadata }: KubeObject,
): void {
  for (const [label, key] of OWN_PRECONDITIONS) {
    if (expected[key] === undefined || expected[key] === metadata[key]) continue;
    const message = `Precondition failed: ${label} in precondition: ${expected[key]}, ${label} in object meta: ${metadata[key]}`;
    throw StatusError.conflict(groupResourceOf(write), write.name, message);
  }
}

async function tryDelete(write: ObjectWrite, current: CachedObject, options: DeleteOptions): Promise<Deletion | undefined> {
  const { resource } = write;
  const { dryRun, raw } = options;
  if (resource.remote !== undefined) await loadVersions(resource, [current]);
  const request = { operation: 'DELETE', object: undefined, oldObject: current.as(resource).object, dryRun, options: raw } as const;
  await write.admit(request);
  await write.validate(request);
  for (const warning of resource.strategy.deletionWarnings?.(current.object, options) ?? []) write.warn(warning);
  const terminating = withDeletion(write, current.object, options);
  if (mustStay(terminating) || resource.strategy.isDeletionHeld?.(terminating)) return mark(resource, current, { terminating, dryRun });
  return remove(resource, current, { terminating, dryRun });
}

function mustStay({ metadata }: KubeObject): boolean {
  return Boolean(metadata.finalizers?.length) || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
}

interface MarkedObject {
  readonly terminating: KubeObject;
  readonly dryRun: boolean;
}

async function mark(resource: StoredResource, current: CachedObject, { terminating, dryRun }: MarkedObject): Promise<Deletion | undefined> {
  if (dryRun) return { object: await inVersion(resource, current.replacedBy(terminating, current.revision)), isGone: false };
  const written = await resource.storage.update(current, await toStored(resource, current, terminating));
  return written && { object: await inVersion(resource, written), isGone: false };
}

async function remove(
  resource: StoredResource,
  current: CachedObject,
  { terminating, dryRun }: MarkedObject,
): Promise<Deletion | undefined> {
  const isGraceful = resource.strategy.gracePeriodSeconds !== undefined;
  const last = isGraceful ? terminating : current.object;
  if (dryRun) return { object: await inVersion(resource, current.replacedBy(last, current.revision)), isGone: true };
  const revision = await resource.storage.delete(current);
  if (revision === undefined) return undefined;
  await internalResource(resource).released?.(current.object);
  return { object: await inVersion(resource, current.replacedBy(last, revision)), isGone: true };
}

/** An object in an outdated version is converted when it is written. */
function toStored(resource: StoredResource, current: CachedObject, terminating: KubeObject): Promise<KubeObject> | KubeObject {
  return current.isOutdated ? toStoredForm(resource, { ...current.as(resource).object, metadata: terminating.metadata }) : terminating;
}

/** The object with its deletion metadata: the propagation finalizer, and the deadline. */
function withDeletion({ resource, clock }: ObjectWrite, object: KubeObject, options: DeleteOptions): KubeObject {
  const finalizers = deletionFinalizers(object, options, resource.strategy.defaultPropagation);
  const grace = gracePeriod(resource, object, options);
  const { metadata } = object;
  const isBegun = metadata.deletionTimestamp !== undefined;
  const isShorter = isBegun && grace < (metadata.deletionGracePeriodSeconds ?? 0);
  const timing = isBegun && !isShorter ? {} : deletionMetadata(object, clock.now(), grace);
  const changes = Object.assign(timing, finalizers.length > 0 && { finalizers });
  const terminating = { ...object, metadata: Object.assign({}, withoutMetadata(object, 'finalizers').metadata, changes) };
  return resource.strategy.prepareForDelete?.(terminating) ?? terminating;
}

/** The metadata of a terminating object. The generation is incremented once, when the deletion starts. */
export function deletionMetadata({ metadata }: KubeObject, now: number, graceSeconds: number): Partial<KubeObject['metadata']> {
  const { generation, deletionTimestamp } = metadata;
  return {
    deletionTimestamp: formatTime(now + graceSeconds * 1000),
    deletionGracePeriodSeconds: graceSeconds,
    ...(deletionTimestamp === undefined && generation && { generation: generation + 1 }),
  };
}

function gracePeriod({ strategy }: StoredResource, object: KubeObject, options: DeleteOptions): number {
  const { metadata } = object;
  const requested = strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds) ?? 0;
  if (metadata.deletionTimestamp === undefined) return requested;
  // The grace period can be shortened, never extended.
  const present = metadata.deletionGracePeriodSeconds ?? 0;
  return options.gracePeriodSeconds === undefined ? present : Math.min(requested, present);
}

const PROPAGATION_FINALIZERS = { Foreground: 'foregroundDeletion', Orphan: 'orphan', Background: undefined } as const;

function deletionFinalizers(object: KubeObject, options: DeleteOptions, byDefault: Propagation = 'Background'): readonly string[] {
  const present = object.metadata.finalizers ?? [];
  const others = present.filter((name) => name !== 'orphan' && name !== 'foregroundDeletion');
  if (byDefault === 'Unsupported') return others;
  const policy = policyOf(options);
  const chosen = present.find((name) => name === 'orphan' || name === 'foregroundDeletion');
  const finalizer = policy === undefined && chosen !== undefined ? chosen : PROPAGATION_FINALIZERS[policy ?? byDefault];
  return finalizer === undefined ? others : [...others, finalizer];
}

function policyOf({ propagationPolicy, orphanDependents }: DeleteOptions): keyof typeof PROPAGATION_FINALIZERS | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background';
  return propagationPolicy;
}
