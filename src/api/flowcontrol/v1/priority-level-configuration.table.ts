import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { PriorityLevelConfiguration } from './priority-level-configuration.ts';

const NONE = '<none>';

export const priorityLevelConfigurationTable: TableDefinition<PriorityLevelConfiguration> = {
  columns: [
    NAME_COLUMN,
    column('Type', 'Whether requests of this level are limited.'),
    column('NominalConcurrencyShares', 'The share of requests that may run at a time.'),
    column('Queues', 'The number of queues for requests that wait.'),
    column('HandSize', 'The number of queues that a flow may use.'),
    column('QueueLengthLimit', 'The number of requests that may wait in a queue.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec }, now) => {
    const limited = spec?.limited;
    const queuing = limited?.limitResponse?.queuing;
    return [
      metadata.name,
      spec?.type ?? '',
      limited ? (limited.nominalConcurrencyShares ?? 0) : NONE,
      queuing?.queues ?? NONE,
      queuing?.handSize ?? NONE,
      queuing?.queueLengthLimit ?? NONE,
      ageCell(metadata, now),
    ];
  },
};
