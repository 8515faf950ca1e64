/** What can be set about the controllers of workloads and nodes, as in `ControllerOptions`. */
export interface WorkloadOptions {
  readonly concurrentReplicaSetSyncs: number;
  readonly concurrentRcSyncs: number;
  readonly concurrentDeploymentSyncs: number;
}

export const DEFAULT_WORKLOAD_OPTIONS: WorkloadOptions = {
  concurrentReplicaSetSyncs: 5,
  concurrentRcSyncs: 5,
  concurrentDeploymentSyncs: 5,
};
