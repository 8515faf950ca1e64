import type { KindBehaviour } from '../../../behaviour.ts';
import { serviceAccountTable } from './service-account.table.ts';
import { ServiceAccount } from './service-account.ts';
import { serviceAccountWarnings, validateServiceAccount, validateServiceAccountUpdate } from './service-account.validation.ts';

export const serviceAccountBehaviour: KindBehaviour<ServiceAccount> = {
  kind: ServiceAccount,
  validate: validateServiceAccount,
  validateUpdate: validateServiceAccountUpdate,
  warnings: serviceAccountWarnings,
  table: serviceAccountTable,
};
