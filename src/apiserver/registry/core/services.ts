import { core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';
import { dropTypeDependentFields } from './service-type-change.ts';

/** Addresses and ports are claimed before the object is prepared and validated: see service-allocation.ts. */
export const servicesStrategy: ResourceStrategy<core.Service> = {
  ...core.serviceBehaviour,
  hasStatus: true,
  allowCreateOnUpdate: true,
  prepareForUpdate: dropTypeDependentFields,
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: { '': [['status']], status: [['spec']] },
};
