import { type core, quota } from '#api';
import type { PodResources } from './pod-status.ts';

/** The pod-level resources and allocated resources, as upstream. */
export function podResources(pod: core.Pod): PodResources {
  const requests = quota.listOfAmounts(quota.podRequests(pod));
  const limits = quota.listOfAmounts(quota.podLimits(pod));
  const hasRequests = Object.keys(requests).length > 0;
  return {
    resources: { ...(hasRequests && { requests }), ...(Object.keys(limits).length > 0 && { limits }) },
    ...(hasRequests && { allocatedResources: requests }),
  };
}
