import { apps, core, type meta } from '#api';
import { apiVersionOf } from '#machinery';
import { controllerRef } from '../runtime/controller-ref.ts';
import { claimName, claimsFor, isInRange, ordinalOf, podName } from './stateful-pod.ts';

type StatefulSet = apps.StatefulSet;
type Claim = core.PersistentVolumeClaim;
type Owner = meta.OwnerReference;
type NamedObject = { readonly metadata: { readonly name: string; readonly uid?: string } };

/** Finds a claim in the set's namespace. */
export type ClaimLookup = (name: string) => Claim | undefined;

interface Retention {
  readonly whenDeleted: string;
  readonly whenScaled: string;
}

function retentionOf({ spec }: StatefulSet): Retention {
  return { whenDeleted: 'Retain', whenScaled: 'Retain', ...spec?.persistentVolumeClaimRetentionPolicy };
}

/** The existing claims of a pod. */
function claimsOf(set: StatefulSet, pod: core.Pod, lookup: ClaimLookup): readonly Claim[] {
  const ordinal = ordinalOf(set, pod);
  const templates = ordinal === undefined ? [] : (set.spec?.volumeClaimTemplates ?? []);
  return templates.flatMap((template) => lookup(claimName(set, template, ordinal ?? 0)) ?? []);
}

/** A new pod must not reuse a claim that is being deleted with its predecessor. */
export function hasStaleClaim(set: StatefulSet, ordinal: number, lookup: ClaimLookup): boolean {
  if (retentionOf(set).whenScaled === 'Retain') return false;
  const name = podName(set, ordinal);
  return claimsFor(set, ordinal).some(({ metadata }) =>
    (lookup(metadata.name)?.metadata.ownerReferences ?? []).some((owner) => refersTo(owner, core.Pod, { metadata: { name } })),
  );
}

/** Whether each existing claim of the pod has the owners of the retention policy. */
export function ownsItsClaims(set: StatefulSet, pod: core.Pod, lookup: ClaimLookup): boolean {
  return claimsOf(set, pod, lookup).every((claim) => ownersOf(claim, set, pod) === undefined);
}

export interface ClaimChange {
  readonly claim: Claim;
  /** Undefined if unchanged. */
  readonly desired: Claim | undefined;
  /** Another controller manages the claim: the set does not. */
  readonly isContested: boolean;
}

export function claimChanges(set: StatefulSet, pod: core.Pod, lookup: ClaimLookup): readonly ClaimChange[] {
  return claimsOf(set, pod, lookup).map((claim) => {
    const ownerReferences = ownersOf(claim, set, pod);
    const desired = ownerReferences && { ...claim, metadata: { ...claim.metadata, ownerReferences } };
    return { claim, desired, isContested: isContested(claim, set, pod) };
  });
}

/** The desired owners of a claim; undefined if it has them or is not managed by the set. */
function ownersOf(claim: Claim, set: StatefulSet, pod: core.Pod): Owner[] | undefined {
  const owners = claim.metadata.ownerReferences ?? [];
  if (isStale(owners, apps.StatefulSet, set) || isStale(owners, core.Pod, pod)) return undefined;
  const uids = [set.metadata.uid, pod.metadata.uid];
  const ownReferences = owners.filter(({ uid }) => uids.includes(uid));
  const others = owners.filter((owner) => !refersTo(owner, apps.StatefulSet, set) && !refersTo(owner, core.Pod, pod));
  if (isContested(claim, set, pod)) return ownReferences.length > 0 ? others : undefined;
  const desiredOwner = desiredOwnerOf(set, pod);
  const isRight =
    ownReferences.every(({ controller }) => controller) &&
    ownReferences.length === desiredOwner.length &&
    ownReferences[0]?.uid === desiredOwner[0]?.uid;
  return isRight ? undefined : [...others, ...desiredOwner];
}

function desiredOwnerOf(set: StatefulSet, pod: core.Pod): readonly Owner[] {
  const { whenDeleted, whenScaled } = retentionOf(set);
  if (whenScaled === 'Delete' && !isInRange(set, pod)) return [controllerRef(pod, core.Pod)];
  return whenDeleted === 'Delete' ? [controllerRef(set, apps.StatefulSet)] : [];
}

/** Whether another controller manages a claim that the set would delete. */
function isContested({ metadata }: Claim, set: StatefulSet, pod: core.Pod): boolean {
  const { whenDeleted, whenScaled } = retentionOf(set);
  if (whenDeleted === 'Retain' && whenScaled === 'Retain') return false;
  return (metadata.ownerReferences ?? []).some((owner) => {
    if (refersTo(owner, apps.StatefulSet, set)) return owner.uid !== set.metadata.uid;
    if (refersTo(owner, core.Pod, pod)) return owner.uid !== pod.metadata.uid;
    return owner.controller === true;
  });
}

type OwnerKind = { readonly group: string; readonly version: string; readonly kind: string };

function refersTo({ apiVersion, kind, name }: Owner, owner: OwnerKind, { metadata }: NamedObject): boolean {
  return apiVersion === apiVersionOf(owner) && kind === owner.kind && name === metadata.name;
}

function isStale(owners: readonly Owner[], kind: OwnerKind, object: NamedObject): boolean {
  const reference = owners.find((owner) => refersTo(owner, kind, object));
  return reference !== undefined && reference.uid !== object.metadata.uid;
}
