import { core } from '#api';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';

function prepare(object: core.PodTemplate, scope: RequestScope): core.PodTemplate {
  return object.template ? { ...object, template: core.dropDisabledTemplateFields(object.template, scope.features) } : object;
}

export const podTemplatesStrategy: ResourceStrategy<core.PodTemplate> = {
  ...core.podTemplateBehaviour,
  tracksGeneration: true,
  prepareForCreate: prepare,
  prepareForUpdate: (object, _old, scope) => prepare(object, scope),
  returnsDeletedObject: true,
};
