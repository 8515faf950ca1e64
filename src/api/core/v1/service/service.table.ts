import { labelsText } from '#machinery';
import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../table-cells.ts';
import type { Service, ServicePort } from './service.ts';

export const serviceTable: TableDefinition<Service> = {
  columns: [
    NAME_COLUMN,
    column('Type', 'How the service is exposed.'),
    column('Cluster-IP', 'The address inside the cluster.'),
    column('External-IP', 'The addresses outside the cluster.'),
    column('Port(s)', 'Ports, node ports and protocols.'),
    AGE_COLUMN,
    wideColumn('Selector', 'The labels of the pods that serve.'),
  ],
  cells: (service, now) => [
    service.metadata.name,
    service.spec?.type ?? '',
    service.spec?.clusterIPs?.[0] ?? '<none>',
    externalAddresses(service),
    service.spec?.ports?.map(portText).join(',') || '<none>',
    ageCell(service.metadata, now),
    labelsText(service.spec?.selector ?? {}) || '<none>',
  ],
};

function externalAddresses({ spec, status }: Service): string {
  const external = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>';
    case 'LoadBalancer':
      return [...loadBalancerAddresses(status?.loadBalancer?.ingress), ...external].join(',') || '<pending>';
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return '<unknown>';
  }
}

/** The load balancer's addresses, deduplicated and sorted. */
export function loadBalancerAddresses(ingress: readonly { readonly ip?: string; readonly hostname?: string }[] = []): string[] {
  return [...new Set(ingress.map(({ ip, hostname }) => ip || hostname || '').filter(Boolean))].sort();
}

function portText({ port, nodePort, protocol }: ServicePort): string {
  return nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
}
