import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultPersistentVolumeClaim } from './persistent-volume-claim.defaults.ts';
import { persistentVolumeClaimTable } from './persistent-volume-claim.table.ts';
import { PersistentVolumeClaim } from './persistent-volume-claim.ts';
import {
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimStatusUpdate,
  validatePersistentVolumeClaimUpdate,
} from './persistent-volume-claim.validation.ts';
import { persistentVolumeClaimWarnings } from './persistent-volume-claim.warnings.ts';

export const persistentVolumeClaimBehaviour: KindBehaviour<PersistentVolumeClaim> = {
  kind: PersistentVolumeClaim,
  defaults: defaultPersistentVolumeClaim,
  validate: (claim) => validatePersistentVolumeClaim(claim),
  validateUpdate: validatePersistentVolumeClaimUpdate,
  validateStatusUpdate: validatePersistentVolumeClaimStatusUpdate,
  warnings: persistentVolumeClaimWarnings,
  table: persistentVolumeClaimTable,
};
