import { fillUnset } from '../../defaulting.ts';
import type { StorageClass } from './storage-class.ts';

export function defaultStorageClass(storageClass: StorageClass): StorageClass {
  return fillUnset(storageClass, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
}
