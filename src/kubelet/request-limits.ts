import { AsyncSemaphore } from '#base';

const STATUSES = 32;
const EVENTS = 48;

/**
 * Limits concurrent writes of the kubelets of one process. Thousands of pods that start together would otherwise starve the scheduler's
 * requests; and of a pod that had to wait only the latest status is written. Leases and nodes are not limited. The limits are not lower
 * because writes in flight share a commit: with 8 events at a time, 2,000 pods took 14.2 s of CPU time instead of 11.9, and their last
 * event was written after twice the time.
 */
export class RequestLimits {
  readonly statuses = new AsyncSemaphore(STATUSES);
  readonly events = new AsyncSemaphore(EVENTS);
}
