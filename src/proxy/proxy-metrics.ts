import type { MetricsRegistry } from '#base';

/** Upstream's buckets for programming rules: 1 ms doubling to 16 s. */
const SYNC_BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
const PROGRAMMING_BUCKETS = [
  0.25,
  0.5,
  ...Array.from({ length: 59 }, (_, i) => i + 1),
  ...Array.from({ length: 12 }, (_, i) => 60 + 5 * i),
  120,
  150,
  180,
  210,
  240,
  270,
  300,
];

/** Under upstream's names. */
export function proxyMetrics(registry: MetricsRegistry) {
  const gauge = (name: string, help: string) => registry.gauge({ name: `kubeproxy_${name}`, help }).with({});
  const counter = (name: string, help: string) => registry.counter({ name: `kubeproxy_${name}`, help }).with({});
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    registry.histogram({ name: `kubeproxy_${name}`, help, buckets }).with({});
  return {
    syncSeconds: histogram('sync_proxy_rules_duration_seconds', 'How long it takes to apply rules', SYNC_BUCKETS),
    fullSyncSeconds: histogram('sync_full_proxy_rules_duration_seconds', 'How long it takes to apply all rules', SYNC_BUCKETS),
    partialSyncSeconds: histogram('sync_partial_proxy_rules_duration_seconds', 'How long it takes to apply changed rules', SYNC_BUCKETS),
    programmingSeconds: histogram(
      'network_programming_duration_seconds',
      'From the change of an endpoint to rules that are in force',
      PROGRAMMING_BUCKETS,
    ),
    lastSync: gauge('sync_proxy_rules_last_timestamp_seconds', 'When rules were last applied'),
    lastQueued: gauge('sync_proxy_rules_last_queued_timestamp_seconds', 'When rules were last to be applied'),
    endpointChangesTotal: counter('sync_proxy_rules_endpoint_changes_total', 'Changes of endpoints'),
    endpointChangesPending: gauge('sync_proxy_rules_endpoint_changes_pending', 'Changes of endpoints that are not in force yet'),
    serviceChangesTotal: counter('sync_proxy_rules_service_changes_total', 'Changes of services'),
    serviceChangesPending: gauge('sync_proxy_rules_service_changes_pending', 'Changes of services that are not in force yet'),
    syncFailures: counter('sync_proxy_rules_nftables_sync_failures_total', 'How often rules could not be applied'),
    healthz: registry.counter({ name: 'kubeproxy_proxy_healthz_total', help: 'Answers to /healthz', labels: ['code'] }),
    livez: registry.counter({ name: 'kubeproxy_proxy_livez_total', help: 'Answers to /livez', labels: ['code'] }),
  };
}

export type ProxyMetrics = ReturnType<typeof proxyMetrics>;
