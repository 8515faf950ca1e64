import type { core } from '#api';
import { protectionStep, withFinalizer, withoutFinalizer } from '../../runtime/protection.ts';

type Volume = core.PersistentVolume;

export const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';

/** The desired volume; undefined if unchanged. */
export function reconcileVolume(volume: Volume): Volume | undefined {
  const step = protectionStep(volume, VOLUME_FINALIZER);
  if (step === 'add') return withFinalizer(volume, VOLUME_FINALIZER);
  const isUsed = volume.status?.phase === 'Bound';
  return step === 'release-when-unused' && !isUsed ? withoutFinalizer(volume, VOLUME_FINALIZER) : undefined;
}
