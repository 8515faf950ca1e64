import { type core, quota } from '#api';
import { withoutStatus } from '../pods/pod-allocation.ts';
import type { PodResources } from './pod-status.ts';

/** The pod-level resources and allocated resources, as upstream. `actual`: the pod with the actual resources of its containers. */
export function podResources(pod: core.Pod, actual = pod): PodResources {
  const requests = quota.listOfAmounts(quota.podRequests(withoutStatus(actual)));
  const limits = quota.listOfAmounts(quota.podLimits(withoutStatus(actual)));
  const allocated = quota.listOfAmounts(quota.podRequests(withoutStatus(pod)));
  const isEmpty = (list: object) => Object.keys(list).length === 0;
  return {
    resources: { ...(!isEmpty(requests) && { requests }), ...(!isEmpty(limits) && { limits }) },
    ...(!isEmpty(allocated) && { allocatedResources: allocated }),
  };
}
