import type { Plugin } from '../../framework/plugin.ts';
import { failed, unresolvable, unschedulable } from '../../framework/status.ts';

const NAME = 'DynamicResources';
const LOOKED_AT: object = {};

/**
 * Device claims. None are allocated by this scheduler yet: pods that have some wait, with a reason that says so. Its part in the messages of
 * pods without claims is upstream's.
 */
export function dynamicResources(): Plugin {
  return {
    name: NAME,
    events: [
      { resource: 'ResourceClaim', actions: ['Add', 'Update', 'Delete'] },
      { resource: 'UnscheduledPod', actions: ['Update'] },
    ],
    preFilter(state, { pod }) {
      if ((pod.spec?.resourceClaims?.length ?? 0) > 0) {
        return { status: unresolvable(NAME, 'the pod has resource claims, and this scheduler allocates no devices') };
      }
      state.write(NAME, LOOKED_AT);
      return undefined;
    },
    postFilter(state) {
      if (state.read(NAME) === undefined) return { status: failed(NAME, new Error('not found')) };
      return { status: unschedulable(NAME, 'no new claims to deallocate') };
    },
  };
}
