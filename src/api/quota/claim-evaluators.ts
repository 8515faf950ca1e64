import { maxQuantity, Quantity } from '#machinery';
import type { PersistentVolumeClaim } from '../core/v1/persistent-volume-claim/persistent-volume-claim.ts';
import type { ResourceClaim } from '../resource/v1/resource-claim.ts';
import type { Amounts } from './amounts.ts';
import { objectCountName, type QuotaEvaluator } from './evaluator.ts';
import { isExtendedRequest } from './pod-evaluator.ts';
import { namesMatchScope } from './scope-selector.ts';

const VOLUME_CLAIMS = { group: '', resource: 'persistentvolumeclaims' };
const VOLUME_CLAIM_COUNT = objectCountName(VOLUME_CLAIMS);
const BY_STORAGE_CLASS = '.storageclass.storage.k8s.io/';
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

export const volumeClaimEvaluator: QuotaEvaluator<PersistentVolumeClaim> = {
  ...VOLUME_CLAIMS,
  matching: (names) => names.filter((name) => name === VOLUME_CLAIM_COUNT || isStorageName(withoutClass(name))),
  usage: volumeClaimUsage,
  matchesScope: (requirement, claim) =>
    requirement.scopeName === 'VolumeAttributesClass' && namesMatchScope(requirement, attributesClasses(claim)),
  changesUsage: (before, after) =>
    before.status?.allocatedResources?.storage !== after.status?.allocatedResources?.storage ||
    attributesClasses(before).toSorted().join() !== attributesClasses(after).toSorted().join(),
};

/** `gold.storageclass.storage.k8s.io/requests.storage` counts as `requests.storage`. */
function withoutClass(name: string): string {
  const at = name.indexOf(BY_STORAGE_CLASS);
  return at < 0 ? name : name.slice(at + BY_STORAGE_CLASS.length);
}

function isStorageName(name: string): boolean {
  return name === 'persistentvolumeclaims' || name === 'requests.storage';
}

function volumeClaimUsage(claim: PersistentVolumeClaim): Amounts {
  const usage = new Map([
    ['persistentvolumeclaims', Quantity.of(1)],
    [VOLUME_CLAIM_COUNT, Quantity.of(1)],
  ]);
  const storageClass = claim.metadata.annotations?.[CLASS_ANNOTATION] ?? claim.spec?.storageClassName ?? '';
  const byClass = (name: string) => `${storageClass}${BY_STORAGE_CLASS}${name}`;
  if (storageClass) usage.set(byClass('persistentvolumeclaims'), Quantity.of(1));
  const storage = requestedStorage(claim);
  if (storage === undefined) return usage;
  usage.set('requests.storage', storage);
  if (storageClass) usage.set(byClass('requests.storage'), storage);
  return usage;
}

/** Whole bytes. A volume that is larger than requested counts with its actual size. */
function requestedStorage({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const requested = spec?.resources?.requests?.storage;
  if (requested === undefined) return undefined;
  const allocated = status?.allocatedResources?.storage;
  const most = allocated === undefined ? Quantity.parse(requested) : maxQuantity(Quantity.parse(requested), Quantity.parse(allocated));
  return most.roundUp(0);
}

function attributesClasses({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter((name): name is string => Boolean(name)))];
}

const DEVICE_CLAIMS = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const DEVICE_CLAIM_COUNT = objectCountName(DEVICE_CLAIMS);
const BY_DEVICE_CLASS = '.deviceclass.resource.k8s.io/devices';
const IMPLICIT_EXTENDED = 'requests.deviceclass.resource.kubernetes.io/';
/** The maximum number of devices of a claim with allocation mode All. */
const ALL_DEVICES = 32;

/** Device classes, and the pods of generated claims. */
export interface DeviceLookup {
  /** The extended resource of a device class. */
  extendedResourceOf(deviceClass: string): string | undefined;
  /** The device class of an extended resource. */
  deviceClassOf(extendedResource: string): string | undefined;
  /** Usage that already counts for the pod whose extended resources the claim satisfies. */
  podUsageFor(claim: ResourceClaim): Amounts | undefined;
}

export function deviceClaimEvaluator(lookup: DeviceLookup): QuotaEvaluator<ResourceClaim> {
  const matches = (name: string) => {
    if (name === DEVICE_CLAIM_COUNT || name.endsWith(BY_DEVICE_CLASS)) return true;
    if (name.startsWith(IMPLICIT_EXTENDED) && lookup.extendedResourceOf(name.slice(IMPLICIT_EXTENDED.length))) return true;
    return isExtendedRequest(name) && lookup.deviceClassOf(name.slice('requests.'.length)) !== undefined;
  };
  return {
    ...DEVICE_CLAIMS,
    matching: (names) => names.filter(matches),
    usage: (claim) => withExtended(deviceUsage(claim), claim, lookup),
    matchesScope: () => false,
    changesUsage: () => false,
  };
}

function deviceUsage(claim: ResourceClaim): Map<string, Quantity> {
  const usage = new Map([[DEVICE_CLAIM_COUNT, Quantity.of(1)]]);
  for (const { firstAvailable = [], exactly } of claim.spec?.devices?.requests ?? []) {
    const counts = new Map<string, number>();
    // Only one alternative is allocated: the most expensive of each class counts.
    for (const request of firstAvailable.length > 0 ? firstAvailable : exactly ? [exactly] : []) {
      const name = request.deviceClassName + BY_DEVICE_CLASS;
      counts.set(name, Math.max(counts.get(name) ?? 0, deviceCount(request)));
    }
    for (const [name, count] of counts) usage.set(name, (usage.get(name) ?? Quantity.zero).add(Quantity.of(count)));
  }
  return usage;
}

function deviceCount({ allocationMode, count = 0 }: { readonly allocationMode?: string; readonly count?: number }): number {
  if (allocationMode === 'ExactCount') return count;
  return allocationMode === 'All' ? ALL_DEVICES : 0;
}

function withExtended(usage: Map<string, Quantity>, claim: ResourceClaim, lookup: DeviceLookup): Amounts {
  const extended = new Map<string, Quantity>();
  for (const [name, quantity] of usage) {
    if (!name.endsWith(BY_DEVICE_CLASS) || name === BY_DEVICE_CLASS) continue;
    const deviceClass = name.slice(0, -BY_DEVICE_CLASS.length);
    extended.set(IMPLICIT_EXTENDED + deviceClass, quantity);
    const resource = lookup.extendedResourceOf(deviceClass);
    if (resource) extended.set(`requests.${resource}`, quantity);
  }
  if (extended.size === 0) return usage;
  const counted = lookup.podUsageFor(claim);
  for (const [name, quantity] of extended) {
    const own = counted?.get(name);
    const left = own ? quantity.sub(own) : quantity;
    if (left.sign > 0) usage.set(name, left);
  }
  return usage;
}
