import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { VolumeAttributesClass } from './volume-attributes-class.ts';

export const volumeAttributesClassTable: TableDefinition<VolumeAttributesClass> = {
  columns: [NAME_COLUMN, column('DriverName', 'The driver whose volumes have these attributes.'), AGE_COLUMN],
  cells: ({ metadata, driverName }, now) => [metadata.name, driverName ?? '', ageCell(metadata, now)],
};
