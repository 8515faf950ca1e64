import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultPersistentVolume } from './persistent-volume.defaults.ts';
import { persistentVolumeTable } from './persistent-volume.table.ts';
import { PersistentVolume } from './persistent-volume.ts';
import {
  validatePersistentVolume,
  validatePersistentVolumeStatusUpdate,
  validatePersistentVolumeUpdate,
} from './persistent-volume.validation.ts';
import { persistentVolumeWarnings } from './persistent-volume.warnings.ts';

export const persistentVolumeBehaviour: KindBehaviour<PersistentVolume> = {
  kind: PersistentVolume,
  defaults: defaultPersistentVolume,
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
  validateStatusUpdate: validatePersistentVolumeStatusUpdate,
  warnings: persistentVolumeWarnings,
  table: persistentVolumeTable,
};
