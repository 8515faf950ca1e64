import { core } from '#api';
import { REPLICATION_CONTROLLER_SCALE } from '../generic/scale-fields.ts';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';

function prepare(controller: core.ReplicationController, scope: RequestScope): core.ReplicationController {
  const template = controller.spec?.template;
  if (!template) return controller;
  return { ...controller, spec: { ...controller.spec, template: core.dropDisabledTemplateFields(template, scope.features) } };
}

export const replicationControllersStrategy: ResourceStrategy<core.ReplicationController> = {
  ...core.replicationControllerBehaviour,
  scale: REPLICATION_CONTROLLER_SCALE,
  hasStatus: true,
  tracksGeneration: true,
  // Predates garbage collection: dependents are orphaned by default.
  defaultPropagation: 'Orphan',
  prepareForCreate: prepare,
  prepareForUpdate: (object, _old, scope) => prepare(object, scope),
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: { '': [['status']], status: [['spec']] },
  location: 'controllers',
};
