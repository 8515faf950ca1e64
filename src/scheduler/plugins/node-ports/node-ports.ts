import type { core } from '#api';
import type { Plugin } from '../../framework/plugin.ts';
import { SKIP, unschedulable } from '../../framework/status.ts';

const NAME = 'NodePorts';
const PORTS_IN_USE = unschedulable(NAME, "node(s) didn't have free ports for the requested pod ports");

/** Host ports of a pod must be free. */
export function nodePorts(): Plugin {
  return {
    name: NAME,
    events: [
      { resource: 'AssignedPod', actions: ['Delete'], hint: (_, { before }) => (hasHostPort(before as core.Pod) ? 'Queue' : 'Skip') },
      { resource: 'Node', actions: ['Add'] },
    ],
    sign: ({ hostPorts }) => hostPorts,
    preFilter: (_, pod) => (pod.hostPorts.length === 0 ? { status: SKIP } : undefined),
    filter: (_, pod, node) => (pod.hostPorts.some((port) => node.usesPort(port)) ? PORTS_IN_USE : undefined),
  };
}

function hasHostPort({ spec }: core.Pod): boolean {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return containers.some(({ ports }) => (ports ?? []).some(({ hostPort }) => (hostPort ?? 0) > 0));
}
