import type { core } from '#api';

export type Modification =
  | { readonly type: 'none' }
  /** The claim names no class any more. */
  | { readonly type: 'cancel' }
  | { readonly type: 'start'; readonly target: string }
  /** The outcome of the last attempt is uncertain: it is repeated even if the claim has another class by now. */
  | { readonly type: 'continue'; readonly target: string };

/** What to do about the VolumeAttributesClass of a claim, by external-resizer's rules. */
export function nextModification({ spec, status }: core.PersistentVolumeClaim, isUncertain: boolean): Modification {
  const desired = spec?.volumeAttributesClassName ?? '';
  const before = status?.modifyVolumeStatus;
  if (status?.phase !== 'Bound') return { type: 'none' };
  if (before === undefined && desired === (status.currentVolumeAttributesClassName ?? '')) return { type: 'none' };
  const isBegun = before?.status === 'InProgress';
  if (desired === '' && !isBegun) return { type: 'cancel' };
  const target = before?.targetVolumeAttributesClassName ?? '';
  if (isBegun && (isUncertain || desired === '')) return { type: 'continue', target };
  return { type: 'start', target: desired };
}
