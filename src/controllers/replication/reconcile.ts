import type { core } from '#api';
import { deepEqual } from '#machinery';
import { type ObservedReplicas, replicaStatus } from '../runtime/replicas/reconcile.ts';

/** Which pods to create and delete is decided in `runtime/replicas`, as for ReplicaSets; terminating pods are not reported here. */
export function withStatus(set: core.ReplicationController, observed: ObservedReplicas): core.ReplicationController {
  const status: core.ReplicationControllerStatus = replicaStatus(set, observed);
  return deepEqual(set.status, status) ? set : { ...set, status };
}
