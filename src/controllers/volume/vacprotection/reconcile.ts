import type { core, storage } from '#api';
import { protectionStep, withFinalizer, withoutFinalizer } from '../../runtime/protection.ts';

type Class = storage.VolumeAttributesClass;

export const CLASS_FINALIZER = 'kubernetes.io/vac-protection';

/** The desired class; undefined if unchanged. */
export function reconcileClass(attributes: Class, isUsed: boolean): Class | undefined {
  const step = protectionStep(attributes, CLASS_FINALIZER);
  if (step === 'add') return withFinalizer(attributes, CLASS_FINALIZER);
  return step === 'release-when-unused' && !isUsed ? withoutFinalizer(attributes, CLASS_FINALIZER) : undefined;
}

/** The current, desired and target classes of a claim. */
export function classesOfClaim({ spec, status }: core.PersistentVolumeClaim): readonly string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter((name): name is string => Boolean(name)))];
}

export function classesOfVolume({ spec }: core.PersistentVolume): readonly string[] {
  return spec?.volumeAttributesClassName ? [spec.volumeAttributesClassName] : [];
}
