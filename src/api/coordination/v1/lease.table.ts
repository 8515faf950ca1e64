import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { Lease } from './lease.ts';

export const leaseTable: TableDefinition<Lease> = {
  columns: [NAME_COLUMN, column('Holder', 'Who holds the lease.'), AGE_COLUMN],
  cells: ({ metadata, spec }, now) => [metadata.name, spec?.holderIdentity ?? '', ageCell(metadata, now)],
};
