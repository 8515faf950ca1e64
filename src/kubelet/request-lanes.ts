import { AsyncSemaphore } from '#base';

const STATUSES = 16;
const EVENTS = 8;

/**
 * Limits concurrent status writes of the kubelets of one process. Thousands of pods that start together would
 * otherwise starve the scheduler's requests; and of a pod that had to wait only the latest status
 * is written. Leases and nodes are not limited.
 */
export class RequestLanes {
  readonly statuses = new AsyncSemaphore(STATUSES);
  readonly events = new AsyncSemaphore(EVENTS);
}
