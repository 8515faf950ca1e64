import { apps } from '#api';
import type { ResourceStrategy } from '../strategy.ts';
import { prepareTemplate } from '../template-preparation.ts';

export const replicaSetsStrategy: ResourceStrategy<apps.ReplicaSet> = {
  ...apps.replicaSetBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepareTemplate,
  prepareForUpdate: prepareTemplate,
  resetFields: { '': [['status']], status: [['spec']] },
};
