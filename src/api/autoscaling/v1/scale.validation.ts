import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import type { TableDefinition } from '../../behaviour.ts';
import { FieldReport } from '../../field-report.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import { AGE_COLUMN, ageCell, column } from '../../table-cells.ts';
import type { Scale } from './scale.ts';

export function validateScale({ metadata, spec }: Scale): FieldError[] {
  const at = FieldReport.on(Path.of('spec'), validateObjectMeta(metadata, { namespaced: true, nameRule: nameIsDnsSubdomain }));
  at.child('replicas').nonNegative(spec?.replicas);
  return at.errors;
}

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
