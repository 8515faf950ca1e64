import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../table-cells.ts';
import type { ConfigMap } from './config-map.ts';

export const configMapTable: TableDefinition<ConfigMap> = {
  columns: [NAME_COLUMN, column('Data', 'The number of entries.'), AGE_COLUMN],
  cells: ({ metadata, data, binaryData }, now) => [
    metadata.name,
    Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    ageCell(metadata, now),
  ],
};
