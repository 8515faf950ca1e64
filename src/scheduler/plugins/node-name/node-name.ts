import type { Plugin } from '../../framework/plugin.ts';
import { SKIP, unresolvable } from '../../framework/status.ts';

const NAME = 'NodeName';
const OTHER_NODE = unresolvable(NAME, "node(s) didn't match the requested node name");

/** A pod with spec.nodeName fits only that node. */
export function nodeName(): Plugin {
  return {
    name: NAME,
    events: [
      { resource: 'Node', actions: ['Add'] },
      { resource: 'UnscheduledPod', actions: ['Update'] },
    ],
    sign: ({ pod }) => pod.spec?.nodeName,
    preFilter: (_, { pod }) => (pod.spec?.nodeName ? undefined : { status: SKIP }),
    filter: (_, { pod }, node) => (pod.spec?.nodeName === node.name ? undefined : OTHER_NODE),
  };
}
