import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, listCell, NAME_COLUMN } from '../../table-cells.ts';
import type { EndpointSlice } from './endpoint-slice.ts';

export const endpointSliceTable: TableDefinition<EndpointSlice> = {
  columns: [
    NAME_COLUMN,
    column('AddressType', 'The kind of addresses in the slice.'),
    column('Ports', 'The ports of all endpoints.'),
    column('Endpoints', 'The addresses of the endpoints.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, addressType, ports, endpoints }, now) => [
    metadata.name,
    addressType ?? '',
    listCell((ports ?? []).map(({ port, name }) => `${port ?? name ?? '*'}`)) || '<unset>',
    listCell((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])) || '<unset>',
    ageCell(metadata, now),
  ],
};
