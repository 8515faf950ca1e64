import { networking } from '#api';
import { withKeptMetadata } from '../generic/kept-metadata.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const serviceCIDRsStrategy: ResourceStrategy<networking.ServiceCIDR> = {
  ...networking.serviceCIDRBehaviour,
  hasStatus: true,
  prepareForStatusUpdate: withKeptMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};
