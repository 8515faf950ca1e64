/** Options of the workload and node controllers; see `ControllerOptions`. */
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
  /** How long a node may be silent before its conditions become Unknown. */
  readonly nodeMonitorGracePeriodMs: number;
  readonly nodeStartupGracePeriodMs: number;
  /** Nodes per second whose pods are evicted in a healthy zone. */
  readonly nodeEvictionRate: number;
  /** In an unhealthy zone of a large cluster; in small clusters evictions stop. */
  readonly secondaryNodeEvictionRate: number;
  readonly unhealthyZoneThreshold: number;
  readonly largeClusterSizeThreshold: number;
  /** The pod CIDR ranges, one per family. Undefined: none are allocated. */
  readonly clusterCidrs?: readonly string[];
  /** Whether nodes get ranges of `clusterCidrs`. Default: true. */
  readonly allocateNodeCidrs?: boolean;
  readonly nodeCidrMaskSizeIpv4: number;
  readonly nodeCidrMaskSizeIpv6: number;
  /** Service ranges, excluded from allocation. */
  readonly serviceClusterIpRanges?: readonly string[];
  /** How many finished pods are kept. 0: all. */
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
