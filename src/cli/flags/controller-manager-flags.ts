import type { ControllerManagerConfig } from '#controllers';
import type { CliContext } from '../context.ts';
import { controllerManagerFlagsWithoutEffect } from './controller-manager-flags-without-effect.ts';
import {
  booleanValue,
  durationValue,
  type Flag,
  type FlagTable,
  fileText,
  listValue,
  numberValue,
  wholeNumberValue,
} from './flag-table.ts';
import { RECYCLER_FLAGS } from './recycler-flags.ts';
import { SIGNING_FLAGS } from './signing-flags.ts';

type Options = NonNullable<ControllerManagerConfig['options']>;

const option = (
  key: keyof Options,
  read: (text: string, context: CliContext) => unknown,
  words: { value: string; help: string },
): Flag<ControllerManagerConfig> => ({
  ...words,
  apply: (config, value, context) => ({ ...config, options: { ...config.options, [key]: read(value, context) } }),
});

/** kube-controller-manager flags. */
export const CONTROLLER_MANAGER_FLAGS: FlagTable<ControllerManagerConfig> = {
  controllers: {
    value: 'names',
    help: "which controllers run: '*', 'name', '-name', separated by commas",
    apply: (config, value) => ({ ...config, controllers: listValue(value) }),
  },
  'root-ca-file': option('rootCa', fileText, { value: 'file', help: 'the CA certificate in service account volumes' }),
  'service-account-private-key-file': option('serviceAccountPrivateKey', fileText, {
    value: 'file',
    help: 'the key that signs tokens in secrets',
  }),
  'cluster-cidr': option('clusterCidrs', listValue, { value: 'ranges', help: 'ranges that nodes get their pod addresses from' }),
  'allocate-node-cidrs': option('allocateNodeCidrs', booleanValue, {
    value: 'bool',
    help: 'whether nodes get ranges (default: true if --cluster-cidr is given)',
  }),
  'node-cidr-mask-size': option('nodeCidrMaskSizeIpv4', numberValue, { value: 'bits', help: "the size of a node's range" }),
  'enable-garbage-collector': option('enableGarbageCollector', booleanValue, {
    value: 'bool',
    help: 'whether dependents of deleted objects are collected',
  }),
  'node-monitor-period': option('nodeMonitorPeriodMs', durationValue, { value: 'duration', help: 'how often node health is checked' }),
  'node-monitor-grace-period': option('nodeMonitorGracePeriodMs', durationValue, {
    value: 'duration',
    help: 'how long a node may miss heartbeats before it is unhealthy',
  }),
  'node-startup-grace-period': option('nodeStartupGracePeriodMs', durationValue, {
    value: 'duration',
    help: 'how long a new node may take to send its first heartbeat',
  }),
  'node-eviction-rate': option('nodeEvictionRate', numberValue, {
    value: 'rate',
    help: 'nodes a second whose pods are evicted, in a healthy zone',
  }),
  'secondary-node-eviction-rate': option('secondaryNodeEvictionRate', numberValue, {
    value: 'rate',
    help: 'the same in an unhealthy zone',
  }),
  'unhealthy-zone-threshold': option('unhealthyZoneThreshold', numberValue, {
    value: 'share',
    help: 'the fraction of unhealthy nodes from which a zone is unhealthy',
  }),
  'large-cluster-size-threshold': option('largeClusterSizeThreshold', numberValue, {
    value: 'nodes',
    help: 'the size from which unhealthy zones are evicted slowly',
  }),
  'terminated-pod-gc-threshold': option('terminatedPodGcThreshold', numberValue, {
    value: 'pods',
    help: 'how many finished pods are kept',
  }),
  'pvclaimbinder-sync-period': option('pvClaimBinderSyncPeriodMs', durationValue, {
    value: 'duration',
    help: 'how often unbound claims and volumes are synced again',
  }),
  'horizontal-pod-autoscaler-sync-period': option('horizontalPodAutoscalerSyncPeriodMs', durationValue, {
    value: 'duration',
    help: 'how often autoscalers are synced',
  }),
  'horizontal-pod-autoscaler-downscale-stabilization': option('horizontalPodAutoscalerDownscaleStabilizationMs', durationValue, {
    value: 'duration',
    help: 'how far back autoscalers look for a higher number before they scale down',
  }),
  'horizontal-pod-autoscaler-tolerance': option('horizontalPodAutoscalerTolerance', numberValue, {
    value: 'share',
    help: 'the ratio by which a metric may deviate from its target without scaling',
  }),
  'horizontal-pod-autoscaler-cpu-initialization-period': option('horizontalPodAutoscalerCpuInitializationPeriodMs', durationValue, {
    value: 'duration',
    help: "how long after its start a pod's use of CPU may not count",
  }),
  'horizontal-pod-autoscaler-initial-readiness-delay': option('horizontalPodAutoscalerInitialReadinessDelayMs', durationValue, {
    value: 'duration',
    help: 'how long after its start a pod that becomes unready counts as never ready',
  }),
  'concurrent-horizontal-pod-autoscaler-syncs': option('concurrentHorizontalPodAutoscalerSyncs', numberValue, {
    value: 'count',
    help: 'autoscalers that are synced concurrently',
  }),
  'concurrent-deployment-syncs': option('concurrentDeploymentSyncs', numberValue, {
    value: 'count',
    help: 'deployments that are synced concurrently',
  }),
  'concurrent-replicaset-syncs': option('concurrentReplicaSetSyncs', numberValue, {
    value: 'count',
    help: 'replica sets that are synced concurrently',
  }),
  'concurrent-namespace-syncs': option('concurrentNamespaceSyncs', numberValue, {
    value: 'count',
    help: 'namespaces that are synced concurrently',
  }),
  'concurrent-ephemeralvolume-syncs': option('concurrentEphemeralVolumeSyncs', numberValue, {
    value: 'count',
    help: 'pods with ephemeral volumes that are synced concurrently',
  }),
  'concurrent-gc-syncs': option('concurrentGcSyncs', numberValue, { value: 'count', help: 'objects that are collected at once' }),
  'concurrent-endpoint-syncs': option('concurrentEndpointSyncs', numberValue, {
    value: 'count',
    help: 'Endpoints that are synced concurrently',
  }),
  ...concurrency({
    'concurrent-cron-job-syncs': ['concurrentCronJobSyncs', 'cron jobs'],
    'concurrent-daemonset-syncs': ['concurrentDaemonSetSyncs', 'daemon sets'],
    'concurrent-job-syncs': ['concurrentJobSyncs', 'jobs'],
    'concurrent-rc-syncs': ['concurrentRcSyncs', 'replication controllers'],
    concurrent_rc_syncs: ['concurrentRcSyncs', 'replication controllers'],
    'concurrent-resource-quota-syncs': ['concurrentResourceQuotaSyncs', 'quotas'],
    'concurrent-service-endpoint-syncs': ['concurrentServiceEndpointSyncs', 'services with EndpointSlices'],
    'concurrent-serviceaccount-token-syncs': ['concurrentServiceAccountTokenSyncs', 'tokens in secrets'],
    'concurrent-statefulset-syncs': ['concurrentStatefulSetSyncs', 'stateful sets'],
    'concurrent-ttl-after-finished-syncs': ['concurrentTtlAfterFinishedSyncs', 'finished jobs'],
    'mirroring-concurrent-service-endpoint-syncs': ['mirroringConcurrentServiceEndpointSyncs', 'mirrored Endpoints'],
  }),
  'max-endpoints-per-slice': option('maxEndpointsPerSlice', wholeNumberValue, {
    value: 'count',
    help: 'the maximum number of endpoints in an EndpointSlice (default: 100)',
  }),
  'legacy-service-account-token-clean-up-period': option('legacyServiceAccountTokenCleanUpPeriodMs', durationValue, {
    value: 'duration',
    help: 'how long a generated token in a secret is unused before it is invalidated, and then deleted (default: 8760h)',
  }),
  'mirroring-max-endpoints-per-subset': option('mirroringMaxEndpointsPerSubset', wholeNumberValue, {
    value: 'count',
    help: 'the maximum number of addresses mirrored per subset of Endpoints (default: 1000)',
  }),
  'node-cidr-mask-size-ipv4': option('nodeCidrMaskSizeIpv4', wholeNumberValue, { value: 'bits', help: "the size of a node's IPv4 range" }),
  'node-cidr-mask-size-ipv6': option('nodeCidrMaskSizeIpv6', wholeNumberValue, { value: 'bits', help: "the size of a node's IPv6 range" }),
  'resource-quota-sync-period': option('resourceQuotaSyncPeriodMs', durationValue, {
    value: 'duration',
    help: 'how often quota usage is recalculated',
  }),
  'service-cluster-ip-range': option('serviceClusterIpRanges', listValue, {
    value: 'ranges',
    help: 'ranges of services, that nodes get no pod addresses of',
  }),
  ...RECYCLER_FLAGS,
  ...SIGNING_FLAGS,
  ...controllerManagerFlagsWithoutEffect<ControllerManagerConfig>(),
};

function concurrency(flags: Readonly<Record<string, readonly [keyof Options, string]>>): FlagTable<ControllerManagerConfig> {
  const flag = ([key, objectNames]: readonly [keyof Options, string]) =>
    option(key, wholeNumberValue, { value: 'count', help: `${objectNames} that are synced concurrently` });
  return Object.fromEntries(Object.entries(flags).map(([name, parts]) => [name, flag(parts)]));
}
