import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../table-cells.ts';
import type { ResourceQuota, ResourceQuotaStatus } from './resource-quota.ts';

export const resourceQuotaTable: TableDefinition<ResourceQuota> = {
  columns: [
    NAME_COLUMN,
    column('Request', 'What is used and what may be requested, by resource.'),
    column('Limit', 'What is used and what limits may sum up to, by resource.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, status = {} }, now) => [
    metadata.name,
    usage(status, (name) => !name.startsWith('limits.')),
    usage(status, (name) => name.startsWith('limits.')),
    ageCell(metadata, now),
  ],
};

function usage({ hard = {}, used = {} }: ResourceQuotaStatus, belongs: (name: string) => boolean): string {
  const names = Object.keys(hard).filter(belongs).sort();
  return names.map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`).join(', ');
}
