import { isDeepStrictEqual } from 'node:util';
import { withDefaults } from './defaults.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

type Field = keyof KubeletConfiguration;

const EVENT_DRIVEN = 'pods are brought in order when something changes, not by the clock';
const PROXY_OWNS_RULES = 'kube-proxy makes the rules that it needs by itself';
const GO_PROFILES = 'the profiles of the Go runtime have no counterpart in Node.js';
const NO_CGROUP_MOVES = 'processes are left in the cgroups that they were started in';
const NO_MEMORY_QOS = 'the MemoryQoS feature is not supported';

/** Fields of upstream's configuration that have no effect here, and why. */
const WITHOUT_EFFECT: ReadonlyMap<Field, string> = new Map<Field, string>([
  ['syncFrequency', EVENT_DRIVEN],
  ['cpuManagerReconcilePeriod', 'the processors of containers are changed when pods come and go'],
  ['topologyManagerPolicyOptions', 'NUMA nodes are not told apart by their distance'],
  ['tlsCurvePreferences', "curves are chosen by Node.js' TLS"],
  ['enableContentionProfiling', GO_PROFILES],
  ['enableProfilingHandler', GO_PROFILES],
  ['enableDebugFlagsHandler', GO_PROFILES],
  ['streamingConnectionIdleTimeout', 'the container runtime ends idle streams'],
  ['volumeStatsAggPeriod', 'volumes are measured when somebody asks'],
  ['kubeletCgroups', NO_CGROUP_MOVES],
  ['systemCgroups', NO_CGROUP_MOVES],
  ['qosReserved', 'the QOSReserved feature is not supported'],
  ['hairpinMode', 'the network plugin decides'],
  ['podCIDR', 'it is for kubelets without an API server, which are not supported'],
  ['maxOpenFiles', 'a Node.js process cannot raise its own limits: use ulimit or systemd'],
  ['contentType', 'requests are in JSON'],
  ['enableControllerAttachDetach', 'volumes are always attached by the attach-detach controller'],
  ['makeIPTablesUtilChains', PROXY_OWNS_RULES],
  ['iptablesMasqueradeBit', PROXY_OWNS_RULES],
  ['iptablesDropBit', PROXY_OWNS_RULES],
  ['featureGates', 'features are on as they are by default'],
  ['configMapAndSecretChangeDetectionStrategy', 'what pods refer to is watched'],
  ['showHiddenMetricsForVersion', 'no metric is hidden'],
  ['volumePluginDir', 'flex volumes are not supported'],
  ['logging', 'use --verbose; logs are written as JSON'],
  ['memoryThrottlingFactor', NO_MEMORY_QOS],
  ['memoryReservationPolicy', NO_MEMORY_QOS],
  ['tracing', 'no traces are written'],
  ['localStorageCapacityIsolation', 'local storage is always counted'],
  ['kernelMemcgNotification', 'memory is measured from time to time'],
]);

/** A warning for each field that is set to a non-default value and has no effect. */
export function ineffectiveFields(configuration: KubeletConfiguration): readonly string[] {
  const defaults = withDefaults({}) as KubeletConfiguration;
  return [...WITHOUT_EFFECT]
    .filter(([field]) => configuration[field] !== undefined && !isDeepStrictEqual(configuration[field], defaults[field]))
    .map(([field, reason]) => `${field} has no effect here: ${reason}`);
}
