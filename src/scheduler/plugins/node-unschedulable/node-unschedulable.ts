import { core } from '#api';
import type { Plugin } from '../../framework/plugin.ts';
import { unresolvable } from '../../framework/status.ts';

const NAME = 'NodeUnschedulable';
const CORDONED = unresolvable(NAME, 'node(s) were unschedulable');
const CORDON_TAINT: core.Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Filters nodes with spec.unschedulable unless the pod tolerates node.kubernetes.io/unschedulable. */
export function nodeUnschedulable(): Plugin {
  return {
    name: NAME,
    events: [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeTaint'],
        hint: (_, { after }) => (isCordoned(after as core.Node) ? 'Skip' : 'Queue'),
      },
      { resource: 'UnscheduledPod', actions: ['UpdatePodToleration'] },
    ],
    sign: ({ tolerations }) => core.isTaintTolerated(tolerations, CORDON_TAINT),
    filter(_, pod, { node }) {
      return node?.spec?.unschedulable && !core.isTaintTolerated(pod.tolerations, CORDON_TAINT) ? CORDONED : undefined;
    },
  };
}

function isCordoned(node: core.Node): boolean {
  return node.spec?.unschedulable === true;
}
