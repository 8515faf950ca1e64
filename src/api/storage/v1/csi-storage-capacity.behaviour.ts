import type { KindBehaviour } from '../../behaviour.ts';
import { CSIStorageCapacity } from './csi-storage-capacity.ts';
import {
  csiStorageCapacityWarnings,
  validateCSIStorageCapacity,
  validateCSIStorageCapacityUpdate,
} from './csi-storage-capacity.validation.ts';

export const csiStorageCapacityBehaviour: KindBehaviour<CSIStorageCapacity> = {
  kind: CSIStorageCapacity,
  validate: (capacity) => validateCSIStorageCapacity(capacity),
  validateUpdate: validateCSIStorageCapacityUpdate,
  warnings: csiStorageCapacityWarnings,
};
