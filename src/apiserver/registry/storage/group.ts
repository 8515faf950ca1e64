import { storageV1beta1 } from '#api';
import { type RegistryGroup, registryGroup, versionOf, withVersions } from '../generic/registry-group.ts';
import { csiDriversStrategy } from './csi-drivers.ts';
import { csiNodesStrategy } from './csi-nodes.ts';
import { csiStorageCapacitiesStrategy } from './csi-storage-capacities.ts';
import { storageClassesStrategy } from './storage-classes.ts';
import { volumeAttachmentsStrategy } from './volume-attachments.ts';
import { volumeAttributesClassesStrategy } from './volume-attributes-classes.ts';

export const STORAGE: RegistryGroup = withVersions(
  registryGroup([
    csiDriversStrategy,
    csiNodesStrategy,
    csiStorageCapacitiesStrategy,
    storageClassesStrategy,
    volumeAttachmentsStrategy,
    volumeAttributesClassesStrategy,
  ]),
  versionOf(volumeAttributesClassesStrategy, storageV1beta1.VolumeAttributesClass),
);
