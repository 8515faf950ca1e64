import type { KindBehaviour } from '../../behaviour.ts';
import { serviceCIDRTable } from './service-cidr.table.ts';
import { ServiceCIDR } from './service-cidr.ts';
import { validateServiceCIDR, validateServiceCIDRStatusUpdate, validateServiceCIDRUpdate } from './service-cidr.validation.ts';

export const serviceCIDRBehaviour: KindBehaviour<ServiceCIDR> = {
  kind: ServiceCIDR,
  validate: validateServiceCIDR,
  validateUpdate: validateServiceCIDRUpdate,
  validateStatusUpdate: validateServiceCIDRStatusUpdate,
  table: serviceCIDRTable,
};
