import { apps } from '#api';
import type { ResourceStrategy } from '../strategy.ts';
import { prepareTemplate } from '../template-preparation.ts';

/** How many pods an update may take down at once is a field that v1.36 does not serve by default. */
function prepare(set: apps.StatefulSet): apps.StatefulSet {
  const prepared = prepareTemplate(set);
  const rollingUpdate = prepared.spec?.updateStrategy?.rollingUpdate;
  if (rollingUpdate?.maxUnavailable === undefined || !prepared.spec) return prepared;
  const { maxUnavailable: _, ...rest } = rollingUpdate;
  return { ...prepared, spec: { ...prepared.spec, updateStrategy: { ...prepared.spec.updateStrategy, rollingUpdate: rest } } };
}

export const statefulSetsStrategy: ResourceStrategy<apps.StatefulSet> = {
  ...apps.statefulSetBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepare,
  prepareForUpdate: prepare,
  resetFields: { '': [['status']], status: [['spec']] },
};
