import type { apps } from '#api';
import { deepEqual } from '#machinery';
import { type ObservedReplicas, replicaStatus } from '../runtime/replicas/reconcile.ts';

/** Which pods to create and delete is decided in `runtime/replicas`, as for ReplicationControllers. */
export function withStatus(set: apps.ReplicaSet, observed: ObservedReplicas): apps.ReplicaSet {
  const status: apps.ReplicaSetStatus = { ...replicaStatus(set, observed), terminatingReplicas: observed.terminating };
  return deepEqual(set.status, status) ? set : { ...set, status };
}
