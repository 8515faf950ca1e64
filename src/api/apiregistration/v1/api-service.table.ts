import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { APIService } from './api-service.ts';

export const apiServiceTable: TableDefinition<APIService> = {
  columns: [
    NAME_COLUMN,
    column('Service', 'The service that answers, or Local.'),
    column('Available', 'Whether it can be reached.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
    availability(status),
    ageCell(metadata, now),
  ],
};

function availability(status: APIService['status']): string {
  const available = (status?.conditions ?? []).find(({ type }) => type === 'Available');
  if (!available) return 'Unknown';
  return available.status === 'True' || !available.reason ? available.status : `${available.status} (${available.reason})`;
}
