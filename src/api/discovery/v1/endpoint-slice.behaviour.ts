import type { KindBehaviour } from '../../behaviour.ts';
import { defaultEndpointSlice } from './endpoint-slice.defaults.ts';
import { endpointSliceTable } from './endpoint-slice.table.ts';
import { EndpointSlice } from './endpoint-slice.ts';
import { endpointSliceWarnings, validateEndpointSlice, validateEndpointSliceUpdate } from './endpoint-slice.validation.ts';

export const endpointSliceBehaviour: KindBehaviour<EndpointSlice> = {
  kind: EndpointSlice,
  defaults: defaultEndpointSlice,
  validate: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
  warnings: endpointSliceWarnings,
  table: endpointSliceTable,
};
