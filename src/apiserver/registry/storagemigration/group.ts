import { storagemigrationV1beta1 } from '#api';
import { keepMetadata } from '../generic/keep-metadata.ts';
import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

const storageVersionMigrationsStrategy: ResourceStrategy<storagemigrationV1beta1.StorageVersionMigration> = {
  ...storagemigrationV1beta1.storageVersionMigrationBehaviour,
  allowUnconditionalUpdate: false,
  hasStatus: true,
  prepareForStatusUpdate: keepMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};

export const STORAGE_MIGRATION: RegistryGroup = registryGroup([storageVersionMigrationsStrategy]);
