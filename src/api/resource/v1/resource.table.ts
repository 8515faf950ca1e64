import { pushAll } from '#base';
import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { DeviceClass } from './device-class.ts';
import type { ResourceClaim } from './resource-claim.ts';
import type { ResourceClaimTemplate } from './resource-claim-template.ts';
import type { ResourceSlice } from './resource-slice.ts';

export const deviceClassTable: TableDefinition<DeviceClass> = {
  columns: [NAME_COLUMN, AGE_COLUMN],
  cells: ({ metadata }, now) => [metadata.name, ageCell(metadata, now)],
};

export const resourceClaimTemplateTable: TableDefinition<ResourceClaimTemplate> = {
  columns: [NAME_COLUMN, AGE_COLUMN],
  cells: ({ metadata }, now) => [metadata.name, ageCell(metadata, now)],
};

export const resourceClaimTable: TableDefinition<ResourceClaim> = {
  columns: [NAME_COLUMN, column('State', 'Whether the claim is pending, allocated, reserved or deleted.'), AGE_COLUMN],
  cells: (claim, now) => [claim.metadata.name, stateOf(claim), ageCell(claim.metadata, now)],
};

function stateOf({ metadata, status }: ResourceClaim): string {
  const states = metadata.deletionTimestamp ? ['deleted'] : [];
  if (status?.allocation) pushAll(states, status.reservedFor?.length ? ['allocated', 'reserved'] : ['allocated']);
  else if (!metadata.deletionTimestamp) states.push('pending');
  return states.join(',');
}

export const resourceSliceTable: TableDefinition<ResourceSlice> = {
  columns: [
    NAME_COLUMN,
    column('Node', 'The node that has the devices.'),
    column('Driver', 'The driver that offers the devices.'),
    column('Pool', 'The pool that the devices belong to.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.nodeName ?? '',
    spec?.driver ?? '',
    spec?.pool?.name ?? '',
    ageCell(metadata, now),
  ],
};
