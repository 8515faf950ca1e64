import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { RuntimeClass } from './runtime-class.ts';

export const runtimeClassTable: TableDefinition<RuntimeClass> = {
  columns: [NAME_COLUMN, column('Handler', "The container runtime's configuration to use."), AGE_COLUMN],
  cells: ({ metadata, handler }, now) => [metadata.name, handler ?? '', ageCell(metadata, now)],
};
