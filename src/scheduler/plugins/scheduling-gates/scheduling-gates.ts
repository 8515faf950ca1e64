import type { Plugin } from '../../framework/plugin.ts';
import { unresolvable } from '../../framework/status.ts';

const NAME = 'SchedulingGates';

/** Keeps pods with schedulingGates out of the active queue. */
export function schedulingGates(): Plugin {
  return {
    name: NAME,
    events: [{ resource: 'UnscheduledPod', actions: ['UpdatePodSchedulingGatesEliminated'] }],
    preEnqueue({ pod }) {
      const gates = (pod.spec?.schedulingGates ?? []).map(({ name }) => name);
      return gates.length === 0 ? undefined : unresolvable(NAME, `waiting for scheduling gates: [${gates.join(' ')}]`);
    },
  };
}
