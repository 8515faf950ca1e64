import type { KindBehaviour } from '../../behaviour.ts';
import { resourceClaimTemplateTable } from './resource.table.ts';
import { defaultResourceClaimTemplate } from './resource-claim.defaults.ts';
import { ResourceClaimTemplate } from './resource-claim-template.ts';
import { validateResourceClaimTemplate, validateResourceClaimTemplateUpdate } from './resource-claim-template.validation.ts';

export const resourceClaimTemplateBehaviour: KindBehaviour<ResourceClaimTemplate> = {
  kind: ResourceClaimTemplate,
  defaults: defaultResourceClaimTemplate,
  validate: validateResourceClaimTemplate,
  validateUpdate: validateResourceClaimTemplateUpdate,
  table: resourceClaimTemplateTable,
};
