import type { KindBehaviour } from '../../behaviour.ts';
import { defaultAPIService } from './api-service.defaults.ts';
import { apiServiceTable } from './api-service.table.ts';
import { APIService } from './api-service.ts';
import { validateAPIService, validateAPIServiceStatusUpdate, validateAPIServiceUpdate } from './api-service.validation.ts';

export const apiServiceBehaviour: KindBehaviour<APIService> = {
  kind: APIService,
  defaults: defaultAPIService,
  validate: validateAPIService,
  validateUpdate: validateAPIServiceUpdate,
  validateStatusUpdate: validateAPIServiceStatusUpdate,
  table: apiServiceTable,
};
