import { core } from '#api';
import type { DriverControllerDeps } from './driver-controller.ts';

/** The volume that a claim is bound to, if it belongs to the driver. */
export function boundVolume(claim: core.PersistentVolumeClaim, { informers, driver }: Pick<DriverControllerDeps, 'informers' | 'driver'>) {
  const volume = informers.of(core.PersistentVolume).lister.get({ name: claim.spec?.volumeName ?? '' });
  return volume?.spec?.csi?.driver === driver.name && volume.spec.claimRef?.uid === claim.metadata.uid ? volume : undefined;
}
