import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { CSINode } from './csi-node.ts';

export const csiNodeTable: TableDefinition<CSINode> = {
  columns: [NAME_COLUMN, column('Drivers', 'The number of drivers on the node.', { type: 'integer' }), AGE_COLUMN],
  cells: ({ metadata, spec }, now) => [metadata.name, (spec?.drivers ?? []).length, ageCell(metadata, now)],
};
