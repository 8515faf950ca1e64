import { goQuote, Path, Quantity } from '#machinery';
import type { PersistentVolumeClaim } from './persistent-volume-claim.ts';
import { STORAGE_CLASS_ANNOTATION } from './persistent-volume-claim.validation.ts';
import type { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';

export function persistentVolumeClaimWarnings({ metadata, spec }: PersistentVolumeClaim): readonly string[] {
  const warnings = claimSpecWarnings(spec ?? {}, Path.of('spec'));
  if (metadata.annotations?.[STORAGE_CLASS_ANNOTATION] === undefined) return warnings;
  const path = Path.of('metadata', 'annotations').key(STORAGE_CLASS_ANNOTATION);
  return [`${path}: deprecated since v1.8; use "storageClassName" attribute instead`, ...warnings];
}

/** Sizes in fractions of a byte. */
export function claimSpecWarnings({ resources }: PersistentVolumeClaimSpec, path: Path): readonly string[] {
  return (['requests', 'limits'] as const).flatMap((kind) => {
    const amount = Quantity.parse(resources?.[kind]?.storage ?? '0');
    if (amount.roundUp(-3).isMultipleOf(0)) return [];
    const field = path.child('resources', kind).key('storage');
    return [`${field}: fractional byte value ${goQuote(amount.toString())} is invalid, must be an integer`];
  });
}
