import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../table-cells.ts';
import type { Node } from './node.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

export const nodeTable: TableDefinition<Node> = {
  columns: [
    NAME_COLUMN,
    column('Status', 'Whether the node is ready, and takes pods.'),
    column('Roles', "The node's roles, from its labels."),
    AGE_COLUMN,
    column('Version', "The version of the node's kubelet."),
    wideColumn('Internal-IP', 'The first address inside the cluster.'),
    wideColumn('External-IP', 'The first address outside the cluster.'),
    wideColumn('OS-Image', 'The operating system.'),
    wideColumn('Kernel-Version', 'The kernel and its architecture.'),
    wideColumn('Container-Runtime', 'The runtime that the kubelet uses.'),
  ],
  cells: (node, now) => {
    const info = node.status?.nodeInfo;
    const kernel = info?.kernelVersion || '<unknown>';
    return [
      node.metadata.name,
      statusText(node),
      rolesText(node),
      ageCell(node.metadata, now),
      info?.kubeletVersion ?? '',
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      info?.osImage || '<unknown>',
      info?.architecture ? `${kernel} (${info.architecture})` : kernel,
      info?.containerRuntimeVersion || '<unknown>',
    ];
  },
};

function statusText({ spec, status }: Node): string {
  const ready = (status?.conditions ?? []).findLast(({ type }) => type === 'Ready');
  const text = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return spec?.unschedulable ? `${text},SchedulingDisabled` : text;
}

function rolesText({ metadata }: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)];
    return key === ROLE_LABEL ? [value] : [];
  });
  return [...new Set(roles.filter(Boolean))].sort().join(',') || '<none>';
}

function addressOf({ status }: Node, type: string): string {
  return (status?.addresses ?? []).find((address) => address.type === type)?.address ?? '<none>';
}
