import type { TableDefinition } from '../../../behaviour.ts';
import { column, NAME_COLUMN } from '../../../table-cells.ts';
import type { ComponentStatus } from './component-status.ts';

export const componentStatusTable: TableDefinition<ComponentStatus> = {
  columns: [
    NAME_COLUMN,
    column('Status', 'Whether the component is healthy.'),
    column('Message', "The component's health message."),
    column('Error', 'Why the health check failed.'),
  ],
  cells: ({ metadata, conditions }) => {
    const healthy = (conditions ?? []).find(({ type }) => type === 'Healthy');
    if (!healthy) return [metadata.name, 'Unknown', '', ''];
    return [metadata.name, healthy.status === 'True' ? 'Healthy' : 'Unhealthy', healthy.message ?? '', healthy.error ?? ''];
  },
};
