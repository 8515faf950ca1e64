import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultEndpoints } from './endpoints.defaults.ts';
import { endpointsTable } from './endpoints.table.ts';
import { Endpoints } from './endpoints.ts';
import { endpointsWarnings, validateEndpoints, validateEndpointsUpdate } from './endpoints.validation.ts';

export const endpointsBehaviour: KindBehaviour<Endpoints> = {
  kind: Endpoints,
  defaults: defaultEndpoints,
  validate: validateEndpoints,
  validateUpdate: validateEndpointsUpdate,
  warnings: endpointsWarnings,
  table: endpointsTable,
};
