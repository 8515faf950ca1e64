import { csiDriversStrategy } from './storage/csi-drivers.ts';
import { csiNodesStrategy } from './storage/csi-nodes.ts';
import { csiStorageCapacitiesStrategy } from './storage/csi-storage-capacities.ts';
import { storageClassesStrategy } from './storage/storage-classes.ts';
import { volumeAttachmentsStrategy } from './storage/volume-attachments.ts';
import { volumeAttributesClassesStrategy } from './storage/volume-attributes-classes.ts';

export const STORAGE_STRATEGIES = [
  csiDriversStrategy,
  csiNodesStrategy,
  csiStorageCapacitiesStrategy,
  storageClassesStrategy,
  volumeAttachmentsStrategy,
  volumeAttributesClassesStrategy,
] as const;
