import { AsyncSemaphore } from '#base';

const STATUSES = 16;
const EVENTS = 8;

/**
 * The kubelets of one process write what they have to say of their pods a few at a time. Thousands of pods that start together would
 * otherwise leave the server no room for those that are still to be placed; and of a pod that had to wait for its turn only the latest status
 * is written. Leases and nodes do not wait.
 */
export class RequestLanes {
  readonly statuses = new AsyncSemaphore(STATUSES);
  readonly events = new AsyncSemaphore(EVENTS);
}
