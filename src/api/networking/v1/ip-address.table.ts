import { groupResourceText } from '#machinery';
import type { TableDefinition } from '../../behaviour.ts';
import { ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { IPAddress } from './ip-address.ts';

/** The age has no column, as in upstream's table, so clients do not show it. */
export const ipAddressTable: TableDefinition<IPAddress> = {
  columns: [NAME_COLUMN, column('ParentRef', 'The object that has the address.')],
  cells: ({ metadata, spec }, now) => [metadata.name, parentText(spec?.parentRef), ageCell(metadata, now)],
};

function parentText(parent: NonNullable<IPAddress['spec']>['parentRef']): string {
  if (!parent) return '<none>';
  const resource = groupResourceText({ group: parent.group ?? '', resource: parent.resource ?? '' }).toLowerCase();
  return [resource, ...(parent.namespace ? [parent.namespace] : []), parent.name ?? ''].join('/');
}
