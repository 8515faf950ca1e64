import type { core } from '#api';
import type { ClusterObjects } from './plugin.ts';
import type { PodInfo } from './pod-info.ts';

export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';

type AnnotatedObject = { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };

export function annotationOf(object: AnnotatedObject, name: string): string | undefined {
  return object.metadata.annotations?.[name];
}

export function isClaimBound(claim: core.PersistentVolumeClaim): boolean {
  return Boolean(claim.spec?.volumeName) && annotationOf(claim as AnnotatedObject, BIND_COMPLETED) !== undefined;
}

export function classOfClaim(claim: core.PersistentVolumeClaim): string {
  return annotationOf(claim as AnnotatedObject, BETA_CLASS) ?? claim.spec?.storageClassName ?? '';
}

export function classOfVolume(volume: core.PersistentVolume): string {
  return annotationOf(volume as AnnotatedObject, BETA_CLASS) ?? volume.spec?.storageClassName ?? '';
}

/** Finds volumes that no claim has by their class, and the others by their claim: a pod's claims can be bound to these only. */
export const VOLUMES_BY_CLAIM = 'claim-or-class';

export function claimOrClassOf(volume: core.PersistentVolume): readonly string[] {
  const ref = volume.spec?.claimRef;
  return [ref == null ? classKey(classOfVolume(volume)) : claimKey(ref)];
}

/** Volumes that the claim may be bound to. */
export function volumesFor(claim: core.PersistentVolumeClaim, { volumes }: ClusterObjects): readonly core.PersistentVolume[] {
  const find = (key: string) => volumes.byIndex(VOLUMES_BY_CLAIM, key);
  return [...find(claimKey(claim.metadata)), ...find(classKey(classOfClaim(claim)))];
}

function claimKey({ namespace, name }: { readonly namespace?: string; readonly name?: string }): string {
  return `claim ${namespace}/${name}`;
}

function classKey(name: string): string {
  return `class ${name}`;
}

/** Whether the claim waits for a pod before it is bound. */
export function waitsForConsumer(claim: core.PersistentVolumeClaim, { storageClasses }: ClusterObjects): boolean {
  const name = classOfClaim(claim);
  return name !== '' && storageClasses.get({ name })?.volumeBindingMode === 'WaitForFirstConsumer';
}

/** The claims of a pod, or upstream's message why one of them cannot be used. */
export function claimsOf(info: PodInfo, { claims }: ClusterObjects): readonly core.PersistentVolumeClaim[] | string {
  const podClaims: core.PersistentVolumeClaim[] = [];
  for (const name of info.claims) {
    const claim = claims.get({ name, namespace: info.namespace });
    const problem = claim === undefined ? missing(info, name) : (whyUnusable(claim) ?? whyNotOwned(info, claim));
    if (problem !== undefined) return problem;
    podClaims.push(claim as core.PersistentVolumeClaim);
  }
  return podClaims;
}

/** A claim with the name of an ephemeral volume's claim may belong to another owner. */
function whyNotOwned(info: PodInfo, { metadata }: core.PersistentVolumeClaim): string | undefined {
  if (!info.ephemeralClaims.has(metadata.name)) return undefined;
  const isOwner = (metadata.ownerReferences ?? []).some(({ uid, controller }) => controller === true && uid === info.uid);
  return isOwner ? undefined : `PVC ${metadata.namespace}/${metadata.name} was not created for pod ${info.key} (pod is not owner)`;
}

function missing(info: PodInfo, name: string): string {
  if (info.ephemeralClaims.has(name)) return `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`;
  return `persistentvolumeclaim "${name}" not found`;
}

function whyUnusable({ metadata, spec, status }: core.PersistentVolumeClaim): string | undefined {
  if (status?.phase === 'Lost')
    return `persistentvolumeclaim "${metadata.name}" bound to non-existent persistentvolume "${spec?.volumeName ?? ''}"`;
  return metadata.deletionTimestamp == null ? undefined : `persistentvolumeclaim "${metadata.name}" is being deleted`;
}
