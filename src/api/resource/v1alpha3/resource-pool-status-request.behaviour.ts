import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { fillUnset, mapField } from '../../defaulting.ts';
import { column, NAME_COLUMN, sinceCell } from '../../table-cells.ts';
import { type PoolStatus, ResourcePoolStatusRequest } from './resource-pool-status-request.ts';
import {
  validateResourcePoolStatusRequest,
  validateResourcePoolStatusRequestStatus,
  validateResourcePoolStatusRequestUpdate,
} from './resource-pool-status-request.validation.ts';

const DEFAULT_LIMIT = 100;

const table: TableDefinition<ResourcePoolStatusRequest> = {
  columns: [
    NAME_COLUMN,
    column('Driver', 'The driver whose pools they are.'),
    column('Total', 'Devices in all pools.'),
    column('Available', 'Devices that can be allocated.'),
    column('Allocated', 'Devices that are allocated.'),
    column('Unavailable', 'Devices that cannot be allocated, though they are free.'),
    column('Errors', 'Pools that could not be counted.'),
    column('Pools', 'Pools that match.', { type: 'integer' }),
    column('Status', 'How far the answer is.'),
    column('Completed', 'The time since the answer.'),
  ],
  cells: ({ metadata, spec, status }, now) => {
    const { pools = [], poolCount = 0, conditions = [] } = status ?? {};
    const result = conditions.find(({ type, status: is }) => is === 'True' && (type === 'Complete' || type === 'Failed'));
    const isCut = result?.type === 'Complete' && poolCount > pools.length;
    const counts = status && result?.type !== 'Failed' ? countCells(pools) : ['-', '-', '-', '-', '-'];
    return [
      metadata.name,
      spec?.driver ?? '',
      ...counts,
      poolCount,
      isCut ? `Complete (${pools.length}/${poolCount} pools)` : (result?.type ?? 'Pending'),
      result?.type === 'Complete' ? sinceCell(result.lastTransitionTime, now) : '<none>',
    ];
  },
};

function countCells(pools: readonly PoolStatus[]): readonly string[] {
  const sum = (count: (pool: PoolStatus) => number | undefined) => String(pools.reduce((total, pool) => total + (count(pool) ?? 0), 0));
  return [
    sum(({ totalDevices }) => totalDevices),
    sum(({ availableDevices }) => availableDevices),
    sum(({ allocatedDevices }) => allocatedDevices),
    sum(({ unavailableDevices }) => unavailableDevices),
    sum(({ validationError }) => (validationError === undefined ? 0 : 1)),
  ];
}

export const resourcePoolStatusRequestBehaviour: KindBehaviour<ResourcePoolStatusRequest> = {
  kind: ResourcePoolStatusRequest,
  defaults: (request) => mapField(request, 'spec', (spec) => fillUnset(spec, { limit: DEFAULT_LIMIT })),
  validate: validateResourcePoolStatusRequest,
  validateUpdate: validateResourcePoolStatusRequestUpdate,
  validateStatusUpdate: validateResourcePoolStatusRequestStatus,
  table,
};
