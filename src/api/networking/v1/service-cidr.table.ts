import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { ServiceCIDR } from './service-cidr.ts';

export const serviceCIDRTable: TableDefinition<ServiceCIDR> = {
  columns: [NAME_COLUMN, column('CIDRs', 'The ranges from which services get their addresses.'), AGE_COLUMN],
  cells: ({ metadata, spec }, now) => [metadata.name, (spec?.cidrs ?? []).join(','), ageCell(metadata, now)],
};
