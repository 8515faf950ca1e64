import { apps } from '#api';
import { APPS_SCALE } from '../generic/scale-fields.ts';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';
import { prepareTemplate } from '../generic/template-preparation.ts';

/** maxUnavailable is disabled by default in v1.36. */
function prepare(set: apps.StatefulSet, scope: RequestScope): apps.StatefulSet {
  const prepared = prepareTemplate(set, scope);
  const rollingUpdate = prepared.spec?.updateStrategy?.rollingUpdate;
  if (rollingUpdate?.maxUnavailable === undefined || !prepared.spec) return prepared;
  const { maxUnavailable: _, ...rest } = rollingUpdate;
  return { ...prepared, spec: { ...prepared.spec, updateStrategy: { ...prepared.spec.updateStrategy, rollingUpdate: rest } } };
}

export const statefulSetsStrategy: ResourceStrategy<apps.StatefulSet> = {
  ...apps.statefulSetBehaviour,
  scale: APPS_SCALE,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepare,
  prepareForUpdate: (object, _old, scope) => prepare(object, scope),
  resetFields: { '': [['status']], status: [['spec']] },
};
