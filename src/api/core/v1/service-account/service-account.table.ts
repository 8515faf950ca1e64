import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, NAME_COLUMN } from '../../../table-cells.ts';
import type { ServiceAccount } from './service-account.ts';

export const serviceAccountTable: TableDefinition<ServiceAccount> = {
  columns: [NAME_COLUMN, AGE_COLUMN],
  cells: ({ metadata }, now) => [metadata.name, ageCell(metadata, now)],
};
