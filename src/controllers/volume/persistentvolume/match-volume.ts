import type { core } from '#api';
import { Quantity, selectorFromObject } from '#machinery';
import { isReservedFor } from './binding.ts';
import { classNameOf } from './storage-class.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

const FILESYSTEM = 'Filesystem';

export interface MatchOptions {
  /** WaitForFirstConsumer: only a volume that the scheduler has reserved matches. */
  readonly waitsForConsumer: boolean;
}

/**
 * The best matching volume: among those with the fewest access modes the one reserved for the claim, else the smallest.
 */
export function findMatch(claim: Claim, volumes: readonly Volume[], { waitsForConsumer }: MatchOptions): Volume | undefined {
  const selector = claim.spec?.selector ? selectorFromObject(claim.spec.selector) : undefined;
  const requested = requestedSize(claim);
  const candidates = volumes.filter((volume) => {
    if (volume.spec?.claimRef && !isReservedFor(volume, claim)) return false;
    if (!volume.spec?.claimRef && waitsForConsumer) return false;
    if (sizeOf(volume).compare(requested) < 0 || !couldServe(volume, claim)) return false;
    return isReservedFor(volume, claim) || isFreeFor(volume, claim, selector);
  });
  return byModes(candidates)
    .map((group) => group.find((volume) => isReservedFor(volume, claim)) ?? smallest(group))
    .at(0);
}

function couldServe(volume: Volume, claim: Claim): boolean {
  return (
    volume.metadata.deletionTimestamp === undefined &&
    hasSameMode(volume, claim) &&
    hasSameAttributes(volume, claim) &&
    offersModes(volume, claim)
  );
}

function isFreeFor(volume: Volume, claim: Claim, selector: ReturnType<typeof selectorFromObject> | undefined): boolean {
  if (volume.status?.phase !== 'Available' || classNameOf(volume) !== classNameOf(claim)) return false;
  return selector === undefined || selector.matches(volume.metadata.labels);
}

/** Grouped by access modes, fewest first. */
function byModes(volumes: readonly Volume[]): readonly (readonly Volume[])[] {
  const groups = new Map<string, Volume[]>();
  for (const volume of volumes) {
    const modes = [...new Set(volume.spec?.accessModes)].sort().join();
    const group = groups.get(modes);
    if (group) group.push(volume);
    else groups.set(modes, [volume]);
  }
  const count = (modes: string) => modes.split(',').length;
  return [...groups].sort(([a], [b]) => count(a) - count(b)).map(([, group]) => group);
}

function smallest(volumes: readonly Volume[]): Volume {
  return volumes.reduce((best, volume) => (sizeOf(volume).compare(sizeOf(best)) < 0 ? volume : best));
}

/** Why the volume that a claim names does not match, in upstream's words; undefined if it does. */
export function volumeMismatch(volume: Volume, claim: Claim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (sizeOf(volume).compare(requestedSize(claim)) < 0) return 'requested PV is too small';
  if (classNameOf(volume) !== classNameOf(claim)) return 'storageClassName does not match';
  if (!hasSameAttributes(volume, claim)) return 'volumeAttributesClassName does not match';
  if (!hasSameMode(volume, claim)) return 'incompatible volumeMode';
  return offersModes(volume, claim) ? undefined : 'incompatible accessMode';
}

export function hasSameMode(volume: Volume, claim: Claim): boolean {
  return (volume.spec?.volumeMode ?? FILESYSTEM) === (claim.spec?.volumeMode ?? FILESYSTEM);
}

function hasSameAttributes(volume: Volume, claim: Claim): boolean {
  return (volume.spec?.volumeAttributesClassName ?? '') === (claim.spec?.volumeAttributesClassName ?? '');
}

function offersModes(volume: Volume, claim: Claim): boolean {
  return (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode));
}

function sizeOf({ spec }: Volume): Quantity {
  return storageOf(spec?.capacity);
}

function requestedSize({ spec }: Claim): Quantity {
  return storageOf(spec?.resources?.requests);
}

function storageOf(resources: Readonly<Record<string, string>> | undefined): Quantity {
  return resources?.storage === undefined ? Quantity.zero : Quantity.parse(resources.storage);
}
