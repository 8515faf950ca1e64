import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../table-cells.ts';
import type { Namespace } from './namespace.ts';

export const namespaceTable: TableDefinition<Namespace> = {
  columns: [NAME_COLUMN, column('Status', 'Whether the namespace is in use or going away.'), AGE_COLUMN],
  cells: ({ metadata, status }, now) => [metadata.name, status?.phase ?? '', ageCell(metadata, now)],
};
