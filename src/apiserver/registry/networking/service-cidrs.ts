import { networking } from '#api';
import { keepMetadata } from '../generic/keep-metadata.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const serviceCIDRsStrategy: ResourceStrategy<networking.ServiceCIDR> = {
  ...networking.serviceCIDRBehaviour,
  hasStatus: true,
  prepareForStatusUpdate: keepMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};
