import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultResourceQuota } from './resource-quota.defaults.ts';
import { resourceQuotaTable } from './resource-quota.table.ts';
import { ResourceQuota } from './resource-quota.ts';
import {
  resourceQuotaWarnings,
  validateResourceQuota,
  validateResourceQuotaStatusUpdate,
  validateResourceQuotaUpdate,
} from './resource-quota.validation.ts';

export const resourceQuotaBehaviour: KindBehaviour<ResourceQuota> = {
  kind: ResourceQuota,
  defaults: defaultResourceQuota,
  validate: validateResourceQuota,
  validateUpdate: validateResourceQuotaUpdate,
  validateStatusUpdate: validateResourceQuotaStatusUpdate,
  warnings: resourceQuotaWarnings,
  table: resourceQuotaTable,
};
