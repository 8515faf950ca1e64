import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, listCell, NAME_COLUMN } from '../../../table-cells.ts';
import type { EndpointSubset, Endpoints } from './endpoints.ts';

export const endpointsTable: TableDefinition<Endpoints> = {
  columns: [NAME_COLUMN, column('Endpoints', 'Addresses and ports that are ready.'), AGE_COLUMN],
  cells: ({ metadata, subsets = [] }, now) => [
    metadata.name,
    subsets.length === 0 ? '<none>' : listCell(subsets.flatMap(addressesOf)),
    ageCell(metadata, now),
  ],
};

function addressesOf({ addresses = [], ports = [] }: EndpointSubset): string[] {
  if (ports.length === 0) return addresses.map(({ ip }) => ip);
  return ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`));
}
