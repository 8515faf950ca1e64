import { core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

function prepare(controller: core.ReplicationController): core.ReplicationController {
  const template = controller.spec?.template;
  if (!template) return controller;
  return { ...controller, spec: { ...controller.spec, template: core.dropDisabledTemplateFields(template) } };
}

export const replicationControllersStrategy: ResourceStrategy<core.ReplicationController> = {
  ...core.replicationControllerBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  // Older than garbage collection: whoever does not ask keeps the pods.
  defaultPropagation: 'Orphan',
  prepareForCreate: prepare,
  prepareForUpdate: prepare,
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: { '': [['status']], status: [['spec']] },
};
