import { core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

function prepare(object: core.PodTemplate): core.PodTemplate {
  return object.template ? { ...object, template: core.dropDisabledTemplateFields(object.template) } : object;
}

export const podTemplatesStrategy: ResourceStrategy<core.PodTemplate> = {
  ...core.podTemplateBehaviour,
  tracksGeneration: true,
  prepareForCreate: prepare,
  prepareForUpdate: prepare,
};
