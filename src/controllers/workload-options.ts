/** What can be set about the controllers of workloads and nodes, as in `ControllerOptions`. */
export interface WorkloadOptions {
  readonly concurrentReplicaSetSyncs: number;
  readonly concurrentRcSyncs: number;
  readonly concurrentDeploymentSyncs: number;
  readonly concurrentEndpointSyncs: number;
  readonly concurrentServiceEndpointSyncs: number;
  readonly maxEndpointsPerSlice: number;
  readonly mirroringConcurrentServiceEndpointSyncs: number;
  readonly mirroringMaxEndpointsPerSubset: number;
}

export const DEFAULT_WORKLOAD_OPTIONS: WorkloadOptions = {
  concurrentReplicaSetSyncs: 5,
  concurrentRcSyncs: 5,
  concurrentDeploymentSyncs: 5,
  concurrentEndpointSyncs: 5,
  concurrentServiceEndpointSyncs: 5,
  maxEndpointsPerSlice: 100,
  mirroringConcurrentServiceEndpointSyncs: 5,
  mirroringMaxEndpointsPerSubset: 1000,
};
