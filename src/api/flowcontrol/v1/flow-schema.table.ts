import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { FlowSchema } from './flow-schema.ts';

export const flowSchemaTable: TableDefinition<FlowSchema> = {
  columns: [
    NAME_COLUMN,
    column('PriorityLevel', 'The level that the requests get.'),
    column('MatchingPrecedence', 'Which schema wins: the lowest number.'),
    column('DistinguisherMethod', 'What makes requests belong together.'),
    AGE_COLUMN,
    column('MissingPL', 'Whether the level does not exist.'),
  ],
  rowOrder: (a, b) => precedenceOf(a) - precedenceOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1),
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.priorityLevelConfiguration?.name ?? '',
    spec?.matchingPrecedence ?? 0,
    spec?.distinguisherMethod?.type ?? '<none>',
    ageCell(metadata, now),
    (status?.conditions ?? []).find(({ type }) => type === 'Dangling')?.status ?? '?',
  ],
};

function precedenceOf({ spec }: FlowSchema): number {
  return spec?.matchingPrecedence ?? 0;
}
