import { core } from '#api';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';

/** The API object of a pod: the pod itself, or the mirror of a static pod. */
export interface ApiObject {
  /** The last known state; undefined: it does not exist at the moment. */
  current(): core.Pod | undefined;
  /** The pod has terminated: deletes the object for good. */
  remove(): Promise<void>;
}

export function apiPod({ metadata }: core.Pod, current: () => core.Pod, client: Client): ApiObject {
  // Not the whole metadata, which would stay in memory with the pod.
  const { name, namespace, uid } = metadata;
  return {
    current,
    remove: async () => {
      try {
        await client.of(core.Pod).delete({ name, namespace }, { gracePeriodSeconds: 0, ...(uid && { preconditions: { uid } }) });
      } catch (error) {
        // Already deleted, or replaced by another pod of the same name.
        if (!isStatusReason(error, 'NotFound') && !isStatusReason(error, 'Conflict')) throw error;
      }
    },
  };
}
