import type { KindBehaviour } from '../../behaviour.ts';
import { resourceSliceTable } from './resource.table.ts';
import { ResourceSlice } from './resource-slice.ts';
import { resourceSliceWarnings, validateResourceSlice, validateResourceSliceUpdate } from './resource-slice.validation.ts';

export const resourceSliceBehaviour: KindBehaviour<ResourceSlice> = {
  kind: ResourceSlice,
  validate: validateResourceSlice,
  validateUpdate: validateResourceSliceUpdate,
  warnings: resourceSliceWarnings,
  selectableFields: { 'spec.nodeName': ({ spec }) => spec?.nodeName ?? '', 'spec.driver': ({ spec }) => spec?.driver ?? '' },
  table: resourceSliceTable,
};
