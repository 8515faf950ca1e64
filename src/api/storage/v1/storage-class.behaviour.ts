import type { KindBehaviour } from '../../behaviour.ts';
import { defaultStorageClass } from './storage-class.defaults.ts';
import { storageClassTable } from './storage-class.table.ts';
import { StorageClass } from './storage-class.ts';
import { storageClassWarnings, validateStorageClass, validateStorageClassUpdate } from './storage-class.validation.ts';

export const storageClassBehaviour: KindBehaviour<StorageClass> = {
  kind: StorageClass,
  defaults: defaultStorageClass,
  validate: validateStorageClass,
  validateUpdate: validateStorageClassUpdate,
  warnings: storageClassWarnings,
  table: storageClassTable,
};
