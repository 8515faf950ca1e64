import { apps } from '#api';
import { APPS_SCALE } from '../generic/scale-fields.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';
import { prepareTemplate } from '../generic/template-preparation.ts';

export const replicaSetsStrategy: ResourceStrategy<apps.ReplicaSet> = {
  ...apps.replicaSetBehaviour,
  scale: APPS_SCALE,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepareTemplate,
  prepareForUpdate: (object, _old, scope) => prepareTemplate(object, scope),
  resetFields: { '': [['status']], status: [['spec']] },
};
