import { describe, expect, it } from 'vitest';
import type { autoscalingV2, core } from '#api';
import type { MetricReading } from './metric-reading.ts';
import { MetricFailure, type ProposalContext, proposeReplicas } from './propose-replicas.ts';

const NOW = Date.UTC(2026, 0, 1);
const pods = ['a', 'b'].map((name) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu: '100m', memory: '1Gi' } } }] },
  status: {
    phase: 'Running',
    startTime: '2025-01-01T00:00:00Z',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' }],
  },
})) as unknown as readonly core.Pod[];

const context: ProposalContext = {
  namespace: 'ns',
  pods,
  specReplicas: 2,
  statusReplicas: 2,
  tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
  periods: { cpuInitializationMs: 0, initialReadinessDelayMs: 0 },
  now: NOW,
};
const perPod = (value: number): MetricReading => ({
  type: 'pods',
  pods: new Map(pods.map(({ metadata }) => [metadata.name, { value, timestamp: NOW, windowMs: 0 }])),
});
const of = (value: number): MetricReading => ({ type: 'value', value });
const failed: MetricReading = { type: 'failure', message: 'because' };

const metric = { name: 'm', selector: { matchLabels: { b: '2', a: '1' } } };
const describedObject = { apiVersion: 'v1', kind: 'Service', name: 's' };
const SELECTOR = '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},}';

const SPECS = {
  utilization: { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  memory: { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '512Mi' } } },
  container: {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } },
  },
  pods: { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '10' } } },
  object: { type: 'Object', object: { describedObject, metric, target: { type: 'Value', value: '10' } } },
  shared: { type: 'Object', object: { describedObject, metric, target: { type: 'AverageValue', averageValue: '10' } } },
  external: { type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '10' } } },
  perPod: { type: 'External', external: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '10' } } },
} as const satisfies Record<string, autoscalingV2.MetricSpec>;

describe('a metric', () => {
  it.each<[keyof typeof SPECS, MetricReading, number, string, object]>([
    [
      'utilization',
      perPod(100),
      4,
      'cpu resource utilization (percentage of request)',
      { resource: { name: 'cpu', current: { averageUtilization: 100, averageValue: '100m' } } },
    ],
    ['memory', perPod(2 ** 30 * 1000), 4, 'memory resource', { resource: { name: 'memory', current: { averageValue: '1Gi' } } }],
    ['container', perPod(100), 4, 'cpu container resource utilization (percentage of request)', { containerResource: { container: 'c' } }],
    ['pods', perPod(25_000), 5, 'pods metric m', { pods: { metric, current: { averageValue: '25' } } }],
    ['object', of(20_000), 4, 'Service metric m', { object: { describedObject, metric, current: { value: '20' } } }],
    ['shared', of(40_000), 4, `external metric m(${SELECTOR})`, { object: { current: { averageValue: '20' } } }],
    ['external', of(20_000), 4, 'external metric m(nil)', { external: { metric: { name: 'm' }, current: { value: '20' } } }],
    ['perPod', of(50_000), 5, 'external metric m(nil)', { external: { current: { averageValue: '25' } } }],
  ])('%s calls for replicas', (name, reading, replicas, message, status) => {
    expect(proposeReplicas(SPECS[name], reading, context)).toMatchObject({ replicas, metric: message, status });
  });

  it.each<[keyof typeof SPECS, string, string, string]>([
    [
      'utilization',
      'FailedGetResourceMetric',
      'failed to get cpu utilization: unable to get metrics for resource cpu: because',
      'failed to get cpu resource metric value: ',
    ],
    [
      'memory',
      'FailedGetResourceMetric',
      'failed to get memory usage: unable to get metrics for resource memory: because',
      'failed to get memory resource metric value: ',
    ],
    [
      'container',
      'FailedGetContainerResourceMetric',
      'failed to get cpu utilization: unable to get metrics for resource cpu: because',
      'failed to get c container metric value: ',
    ],
    ['pods', 'FailedGetPodsMetric', 'unable to get metric m: because', 'failed to get pods metric value: '],
    ['object', 'FailedGetObjectMetric', 'unable to get metric m: Service on ns s/because', 'failed to get object metric value: '],
    [
      'shared',
      'FailedGetObjectMetric',
      'unable to get metric m: Service on ns s/because',
      'failed to get object metric value: failed to get m object metric: ',
    ],
    [
      'external',
      'FailedGetExternalMetric',
      'unable to get external metric ns/m/nil: because',
      'failed to get m external metric value: failed to get external metric m: ',
    ],
    [
      'perPod',
      'FailedGetExternalMetric',
      'unable to get external metric ns/m/nil: because',
      'failed to get m external metric value: failed to get m external metric: ',
    ],
  ])('%s says why it cannot be had', (name, reason, detail, prefix) => {
    const failure = failureOf(SPECS[name], failed);
    expect(failure).toMatchObject({ reason, detail, message: prefix + detail });
  });

  it('of an unknown type is an error', () => {
    const failure = failureOf({ type: 'Odd' }, failed);
    expect(failure).toMatchObject({ reason: 'InvalidMetricSourceType', detail: 'unknown metric source type "Odd"' });
  });
});

function failureOf(spec: autoscalingV2.MetricSpec, reading: MetricReading): MetricFailure {
  try {
    proposeReplicas(spec, reading, context);
  } catch (error) {
    if (error instanceof MetricFailure) return error;
    throw error;
  }
  throw new Error('the metric could be had');
}
