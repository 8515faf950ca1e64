import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { PriorityClass } from './priority-class.ts';

export const priorityClassTable: TableDefinition<PriorityClass> = {
  columns: [
    NAME_COLUMN,
    column('Value', 'The priority of pods of this class.', { type: 'integer' }),
    column('Global-Default', 'Whether pods without a class get this one.', { type: 'boolean' }),
    AGE_COLUMN,
    column('PreemptionPolicy', 'Whether pods of this class drive out others.'),
  ],
  cells: ({ metadata, value, globalDefault, preemptionPolicy }, now) => [
    metadata.name,
    value ?? 0,
    globalDefault ?? false,
    ageCell(metadata, now),
    preemptionPolicy ?? '',
  ],
};
