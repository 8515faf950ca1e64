import type { core } from '#api';
import type { Identified } from '#client';
import { deepEqual, Quantity } from '#machinery';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

/** On a claim: it was bound once and must never be bound to another volume. */
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** On a claim or a volume: the controller, not the user, made the binding and may undo it. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** On a claim: the node of the pod that waits for it. Set by the scheduler. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
export const MIGRATED_TO = 'pv.kubernetes.io/migrated-to';
/** On a claim: the provisioner of its volume. */
export const PROVISIONERS = ['volume.kubernetes.io/storage-provisioner', 'volume.beta.kubernetes.io/storage-provisioner'] as const;
const PRE_RESIZE_CAPACITY = 'volume.alpha.kubernetes.io/pre-resize-capacity';

export function hasAnnotation({ metadata }: Identified, name: string): boolean {
  return metadata.annotations?.[name] !== undefined;
}

export function withAnnotations<T extends Identified>(object: T, annotations: Readonly<Record<string, string>>): T {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } } };
}

export function withoutAnnotation<T extends Identified>(object: T, name: string): T {
  const { [name]: _, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Whether the volume's claimRef is the claim: by name, and by uid when it has one. */
export function isReservedFor({ spec }: Volume, { metadata }: Claim): boolean {
  const reference = spec?.claimRef;
  if (!reference || reference.name !== metadata.name || reference.namespace !== metadata.namespace) return false;
  return !reference.uid || reference.uid === metadata.uid;
}

/** The volume bound to the claim; the same object if unchanged. */
export function volumeBoundTo(volume: Volume, claim: Claim): Volume {
  const isReserved = isReservedFor(volume, claim);
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid, resourceVersion };
  const isBound = isReserved && volume.spec?.claimRef?.uid === uid;
  const bound = isBound ? volume : { ...volume, spec: { ...volume.spec, claimRef: claimRef as core.ObjectReference } };
  if (isReserved || hasAnnotation(bound, BOUND_BY_CONTROLLER)) return bound;
  return withAnnotations(bound, { [BOUND_BY_CONTROLLER]: 'yes' });
}

/** The volume without its binding; a claimRef that the user set keeps its name. */
export function volumeUnbound(volume: Volume): Volume {
  const { claimRef, ...spec } = volume.spec ?? {};
  if (hasAnnotation(volume, BOUND_BY_CONTROLLER)) return withoutAnnotation({ ...volume, spec }, BOUND_BY_CONTROLLER);
  const { uid: _, ...reference } = claimRef ?? {};
  return { ...volume, spec: { ...spec, claimRef: reference } };
}

export function volumeInPhase(volume: Volume, phase: string, message = ''): Volume {
  if (volume.status?.phase === phase) return volume;
  const { message: _, ...status } = volume.status ?? {};
  return { ...volume, status: { ...status, phase, ...(message && { message }) } };
}

/** The claim bound to the volume; the same object if unchanged. */
export function claimBoundTo(claim: Claim, volume: Volume): Claim {
  const { name } = volume.metadata;
  const isNamed = claim.spec?.volumeName === name;
  if (isNamed && hasAnnotation(claim, BIND_COMPLETED)) return claim;
  const bound = isNamed
    ? claim
    : withAnnotations({ ...claim, spec: { ...claim.spec, volumeName: name } }, { [BOUND_BY_CONTROLLER]: 'yes' });
  return withAnnotations(bound, { [BIND_COMPLETED]: 'yes' });
}

/** The claim in the given phase, without status fields that came from a volume. */
export function claimInPhase(claim: Claim, phase: string): Claim {
  const { accessModes: _, capacity: __, currentVolumeAttributesClassName: ___, ...rest } = claim.status ?? {};
  return withStatus(claim, { ...rest, phase });
}

/** The claim with the status that it has from its volume. The capacity is copied once only: later it is the resizer's. */
export function claimWithVolumeStatus(claim: Claim, volume: Volume): Claim {
  const { status = {} } = claim;
  const { accessModes, volumeAttributesClassName: attributes } = volume.spec ?? {};
  if (status.phase === 'Bound') return withStatus(claim, { ...status, ...(accessModes && { accessModes }) });
  const capacity = capacityOf(claim, volume);
  const bound = { ...status, phase: 'Bound', capacity, ...(accessModes && { accessModes }) };
  if (status.phase !== 'Pending') return withStatus(claim, bound);
  const { currentVolumeAttributesClassName: _, ...other } = bound;
  return withStatus(claim, attributes === undefined ? other : { ...other, currentVolumeAttributesClassName: attributes });
}

function withStatus(claim: Claim, status: core.PersistentVolumeClaimStatus): Claim {
  return deepEqual(claim.status, status) ? claim : { ...claim, status };
}

function capacityOf({ status }: Claim, { metadata, spec }: Volume): Readonly<Record<string, string>> {
  const storage = spec?.capacity?.storage;
  if (storage === undefined) throw new Error(`PersistentVolume "${metadata.name}" is without a storage capacity`);
  const before = metadata.annotations?.[PRE_RESIZE_CAPACITY];
  if (before !== undefined) return { ...status?.capacity, storage: isQuantity(before) ? before : storage };
  const previousCapacity = status?.capacity?.storage;
  const isSame = previousCapacity !== undefined && Quantity.parse(previousCapacity).compare(Quantity.parse(storage)) === 0;
  return { ...(isSame ? status?.capacity : spec?.capacity) };
}

function isQuantity(text: string): boolean {
  try {
    Quantity.parse(text);
    return true;
  } catch {
    return false;
  }
}
