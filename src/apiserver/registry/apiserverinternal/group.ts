import { apiserverinternalV1alpha1 as v1alpha1 } from '#api';
import { keepMetadata } from '../generic/keep-metadata.ts';
import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

const storageVersionsStrategy: ResourceStrategy<v1alpha1.StorageVersion> = {
  ...v1alpha1.storageVersionBehaviour,
  allowUnconditionalUpdate: false,
  hasStatus: true,
  prepareForStatusUpdate: keepMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};

export const API_SERVER_INTERNAL: RegistryGroup = registryGroup([storageVersionsStrategy]);
