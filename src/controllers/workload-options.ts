/** What can be set about the controllers of workloads and nodes, as in `ControllerOptions`. */
export interface WorkloadOptions {
  readonly concurrentReplicaSetSyncs: number;
  readonly concurrentRcSyncs: number;
  readonly concurrentDeploymentSyncs: number;
  readonly concurrentDaemonSetSyncs: number;
  readonly concurrentStatefulSetSyncs: number;
  readonly concurrentJobSyncs: number;
  readonly concurrentCronJobSyncs: number;
  readonly concurrentTtlAfterFinishedSyncs: number;
  readonly concurrentEndpointSyncs: number;
  readonly concurrentServiceEndpointSyncs: number;
  readonly maxEndpointsPerSlice: number;
  readonly mirroringConcurrentServiceEndpointSyncs: number;
  readonly mirroringMaxEndpointsPerSubset: number;
  readonly nodeMonitorPeriodMs: number;
  /** How long a node may be silent before it counts as lost. */
  readonly nodeMonitorGracePeriodMs: number;
  readonly nodeStartupGracePeriodMs: number;
  /** Nodes a second whose pods are evicted when a zone is healthy. */
  readonly nodeEvictionRate: number;
  /** And when it is not, in a large cluster; in a small one evictions stop. */
  readonly secondaryNodeEvictionRate: number;
  readonly unhealthyZoneThreshold: number;
  readonly largeClusterSizeThreshold: number;
  /** The ranges, one a family, that nodes get theirs from. Absent: nodes get none. */
  readonly clusterCidrs?: readonly string[];
  readonly nodeCidrMaskSizeIpv4: number;
  readonly nodeCidrMaskSizeIpv6: number;
  /** Ranges of services, that nodes get nothing of. */
  readonly serviceClusterIpRanges?: readonly string[];
  /** How many finished pods may stay. 0: all of them. */
  readonly terminatedPodGcThreshold: number;
}

export const DEFAULT_WORKLOAD_OPTIONS: WorkloadOptions = {
  concurrentReplicaSetSyncs: 5,
  concurrentRcSyncs: 5,
  concurrentDeploymentSyncs: 5,
  concurrentDaemonSetSyncs: 2,
  concurrentStatefulSetSyncs: 5,
  concurrentJobSyncs: 5,
  concurrentCronJobSyncs: 5,
  concurrentTtlAfterFinishedSyncs: 5,
  concurrentEndpointSyncs: 5,
  concurrentServiceEndpointSyncs: 5,
  maxEndpointsPerSlice: 100,
  mirroringConcurrentServiceEndpointSyncs: 5,
  mirroringMaxEndpointsPerSubset: 1000,
  nodeMonitorPeriodMs: 5_000,
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  unhealthyZoneThreshold: 0.55,
  largeClusterSizeThreshold: 50,
  nodeCidrMaskSizeIpv4: 24,
  nodeCidrMaskSizeIpv6: 64,
  terminatedPodGcThreshold: 12_500,
};
