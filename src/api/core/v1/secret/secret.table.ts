import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../table-cells.ts';
import type { Secret } from './secret.ts';

export const secretTable: TableDefinition<Secret> = {
  columns: [NAME_COLUMN, column('Type', 'What the secret is for.'), column('Data', 'The number of entries.'), AGE_COLUMN],
  cells: ({ metadata, type, data }, now) => [metadata.name, type ?? '', Object.keys(data ?? {}).length, ageCell(metadata, now)],
};
