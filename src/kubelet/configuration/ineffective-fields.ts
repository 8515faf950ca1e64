import { isDeepStrictEqual } from 'node:util';
import { FeatureGates } from '#machinery';
import { withDefaults } from './defaults.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';
import { RELEASES } from './validate-configuration.ts';

type Field = keyof KubeletConfiguration;

const EVENT_DRIVEN = 'pods are brought in order when something changes, not by the clock';
const PROXY_OWNS_RULES = 'kube-proxy makes the rules that it needs by itself';
const GO_PROFILES = 'the profiles of the Go runtime have no counterpart in Node.js';
const NO_MEMORY_QOS = 'the MemoryQoS feature is not supported';

/** Fields of upstream's configuration that have no effect here, and why. */
const WITHOUT_EFFECT: ReadonlyMap<Field, string> = new Map<Field, string>([
  ['syncFrequency', EVENT_DRIVEN],
  ['cpuManagerReconcilePeriod', 'the processors of containers are changed when pods come and go'],
  ['enableContentionProfiling', GO_PROFILES],
  ['enableProfilingHandler', GO_PROFILES],
  ['enableDebugFlagsHandler', GO_PROFILES],
  ['streamingConnectionIdleTimeout', 'the container runtime ends idle streams, as with upstream'],
  ['qosReserved', 'the QOSReserved feature is not supported'],
  ['hairpinMode', 'the network plugin decides'],
  ['podCIDR', 'it is for kubelets without an API server, which are not supported'],
  ['contentType', 'requests are in JSON'],
  ['makeIPTablesUtilChains', PROXY_OWNS_RULES],
  ['iptablesMasqueradeBit', PROXY_OWNS_RULES],
  ['iptablesDropBit', PROXY_OWNS_RULES],
  ['configMapAndSecretChangeDetectionStrategy', 'what pods refer to is watched'],
  ['showHiddenMetricsForVersion', 'no metric is hidden'],
  ['volumePluginDir', 'flex volumes are not supported'],
  ['memoryThrottlingFactor', NO_MEMORY_QOS],
  ['memoryReservationPolicy', NO_MEMORY_QOS],
  ['kernelMemcgNotification', 'memory is measured from time to time'],
]);

/** A warning for each field that is set to a non-default value and has no effect. */
export function ineffectiveFields(configuration: KubeletConfiguration): readonly string[] {
  const defaults = withDefaults({}) as KubeletConfiguration;
  const effective = withDefaults(configuration) as KubeletConfiguration;
  return [...WITHOUT_EFFECT]
    .filter(([field]) => !isDeepStrictEqual(effective[field], defaults[field]))
    .map(([field, reason]) => `${field} has no effect here: ${reason}`)
    .concat(ineffectiveGates(configuration));
}

/** Gates that other fields depend on. */
const EFFECTIVE_GATES: ReadonlySet<string> = new Set([
  'CustomCPUCFSQuotaPeriod',
  'GracefulNodeShutdown',
  'GracefulNodeShutdownBasedOnPodPriority',
  'KubeletCrashLoopBackOffMax',
  'RotateKubeletServerCertificate',
]);

function ineffectiveGates({ featureGates = {} }: KubeletConfiguration): readonly string[] {
  const defaults = new FeatureGates(new Map(), RELEASES);
  return Object.entries(featureGates)
    .filter(([name, isOn]) => !EFFECTIVE_GATES.has(name) && defaults.isEnabled(name) !== isOn)
    .map(([name]) => `featureGates.${name} has no effect here: the kubelet's features are on as they are by default`);
}
