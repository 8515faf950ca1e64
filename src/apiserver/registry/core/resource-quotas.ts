import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const resourceQuotasStrategy: ResourceStrategy<core.ResourceQuota> = {
  ...core.resourceQuotaBehaviour,
  hasStatus: true,
  resetFields: { '': [['status']], status: [['spec']] },
  returnsDeletedObject: true,
};
