import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column } from '../../table-cells.ts';
import type { Scale } from './scale.ts';

export const scaleTable: TableDefinition<Scale> = {
  columns: [
    column('Name', 'The name of what is scaled.'),
    column('Desired', 'How many pods there are to be.', { type: 'integer' }),
    column('Available', 'How many pods there are.', { type: 'integer' }),
    AGE_COLUMN,
  ],
  cells: ({ metadata = {}, spec, status }, now) => [
    metadata.name ?? '',
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    ageCell(metadata, now),
  ],
};
