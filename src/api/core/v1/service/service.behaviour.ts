import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultService } from './service.defaults.ts';
import { serviceTable } from './service.table.ts';
import { Service } from './service.ts';
import { validateService, validateServiceUpdate } from './service.validation.ts';
import { serviceWarnings } from './service.warnings.ts';
import { validateServiceStatusUpdate } from './service-status.validation.ts';

export const serviceBehaviour: KindBehaviour<Service> = {
  kind: Service,
  defaults: defaultService,
  validate: validateService,
  validateUpdate: validateServiceUpdate,
  validateStatusUpdate: validateServiceStatusUpdate,
  warnings: serviceWarnings,
  selectableFields: {
    'spec.clusterIP': ({ spec }) => spec?.clusterIP ?? '',
    'spec.type': ({ spec }) => spec?.type ?? '',
  },
  table: serviceTable,
};
