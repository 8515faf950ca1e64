import type { TableDefinition } from '../../behaviour.ts';
import { loadBalancerAddresses } from '../../core/v1/service/service.table.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { Ingress, IngressRule } from './ingress.ts';

const LISTED = 3;

export const ingressTable: TableDefinition<Ingress> = {
  columns: [
    NAME_COLUMN,
    column('Class', 'The class that implements the ingress.'),
    column('Hosts', 'The hosts that it answers for.'),
    column('Address', 'Where it can be reached.'),
    column('Ports', 'The ports it listens on.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.ingressClassName ?? '<none>',
    hostsText(spec?.rules ?? []),
    loadBalancerAddresses(status?.loadBalancer?.ingress).join(','),
    spec?.tls?.length ? '80, 443' : '80',
    ageCell(metadata, now),
  ],
};

/** The first hosts; rules without a host count as not shown. */
function hostsText(rules: readonly IngressRule[]): string {
  const cells: string[] = [];
  let hasMore = false;
  for (const { host } of rules) {
    if (cells.length === LISTED) hasMore = true;
    else if (host) cells.push(host);
  }
  if (cells.length === 0) return '*';
  return hasMore ? `${cells.join(',')} + ${rules.length - LISTED} more...` : cells.join(',');
}
