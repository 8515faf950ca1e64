import { expect, test } from 'vitest';
import { horizontalPodAutoscalerBehaviour as v2Behaviour } from '../v2/horizontal-pod-autoscaler.behaviour.ts';
import type * as v2 from '../v2/horizontal-pod-autoscaler.ts';
import { horizontalPodAutoscalerBehaviour as v1Behaviour } from './horizontal-pod-autoscaler.behaviour.ts';
import { toV1, toV2 } from './horizontal-pod-autoscaler.conversion.ts';
import type { HorizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';

const NOW = Date.parse('2024-01-01T00:10:00Z');
const metadata = { name: 'a', namespace: 'ns', creationTimestamp: '2024-01-01T00:00:00Z' };
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const cpu: v2.MetricSpec = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };
const pods: v2.MetricSpec = {
  type: 'Pods',
  pods: { metric: { name: 'qps', selector: { matchLabels: { a: 'b' } } }, target: { type: 'AverageValue', averageValue: '1k' } },
};
const others: readonly v2.MetricSpec[] = [
  pods,
  { type: 'Object', object: { describedObject: scaleTargetRef, metric: { name: 'm' }, target: { type: 'Value', value: '10' } } },
  {
    type: 'Object',
    object: { describedObject: scaleTargetRef, metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '2' } },
  },
  { type: 'External', external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '30' } } },
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 5 } } },
];

function autoscaler(
  metrics: readonly v2.MetricSpec[],
  overrides: Partial<v2.HorizontalPodAutoscalerSpec> = {},
): v2.HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics, ...overrides },
    status: { desiredReplicas: 2, currentReplicas: 1 },
  };
}

test('autoscaling/v1 shows the CPU target as a field, and no other metric', () => {
  expect(toV1(autoscaler([cpu]))).toEqual({
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    status: { currentReplicas: 1, desiredReplicas: 2 },
  });
});

test('autoscaling/v1 keeps what it has no field for in annotations, in their v2beta1 form', () => {
  const { annotations } = toV1(autoscaler([pods, cpu], { behavior: { scaleDown: { selectPolicy: 'Disabled' } } })).metadata;
  expect(annotations).toEqual({
    'autoscaling.alpha.kubernetes.io/metrics':
      '[{"type":"Pods","pods":{"metricName":"qps","targetAverageValue":"1k","selector":{"matchLabels":{"a":"b"}}}}]',
    'autoscaling.alpha.kubernetes.io/behavior':
      '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Disabled","Policies":null,"Tolerance":null}}',
  });
});

test.each(others.map((metric) => [metric.type, metric] as const))('a %s metric survives a conversion round trip', (_, metric) => {
  const input = autoscaler([metric, cpu], { behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 2 }] } } });
  expect(toV2(toV1(input))).toEqual(input);
});

test('conditions in the annotation have their fields in definition order', () => {
  const conditions = [{ reason: 'R', lastTransitionTime: '2024-01-01T00:00:00Z', status: 'True', type: 'AbleToScale', message: 'm' }];
  const input = { ...autoscaler([cpu]), status: { desiredReplicas: 2, currentReplicas: 1, conditions } };
  expect(toV1(input as v2.HorizontalPodAutoscaler).metadata.annotations).toEqual({
    'autoscaling.alpha.kubernetes.io/conditions':
      '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z","reason":"R","message":"m"}]',
  });
});

test('statuses and conditions of autoscalers survive the conversion', () => {
  const currentMetrics: v2.MetricStatus[] = [
    { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '10m', averageUtilization: 7 } } },
    { type: 'External', external: { metric: { name: 'q' }, current: { value: '0', averageValue: '3' } } },
  ];
  const conditions = [{ type: 'AbleToScale', status: 'True', reason: 'R', lastTransitionTime: '2024-01-01T00:00:00Z' }];
  const input = { ...autoscaler([cpu]), status: { desiredReplicas: 2, currentReplicas: 1, currentMetrics, conditions } };
  expect(toV1(input).status?.currentCPUUtilizationPercentage).toBe(7);
  expect(toV2(toV1(input))).toEqual(input);
});

test('autoscaling/v1 without a target defaults to 80 percent of CPU', () => {
  const input: HorizontalPodAutoscaler = { metadata, spec: { scaleTargetRef, maxReplicas: 3 } };
  expect(toV1(toV2(input)).spec?.targetCPUUtilizationPercentage).toBe(80);
});

test('malformed annotations of autoscalers are ignored', () => {
  const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '{', 'autoscaling.alpha.kubernetes.io/behavior': 'null', mine: 'x' };
  const input = { metadata: { ...metadata, annotations }, spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 1 } };
  const converted = toV2(input);
  expect(converted.metadata.annotations).toEqual({ mine: 'x' });
  expect(converted.spec?.behavior).toBeUndefined();
  expect(converted.spec?.metrics).toHaveLength(1);
});

test('autoscaling/v1 shows its default CPU target from the start', () => {
  const filled = (spec: object, annotations = {}) =>
    v1Behaviour.defaults?.({ metadata: { ...metadata, annotations }, spec: { scaleTargetRef, maxReplicas: 3, ...spec } }).spec;
  expect(filled({})).toEqual({ scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 80 });
  expect(filled({ targetCPUUtilizationPercentage: 7 })?.targetCPUUtilizationPercentage).toBe(7);
  const carried = toV1(autoscaler([pods])).metadata.annotations;
  expect(filled({}, carried)?.targetCPUUtilizationPercentage).toBeUndefined();
});

test('an autoscaler scales up at once and down with a stabilization window by default', () => {
  const filled = v2Behaviour.defaults?.({
    metadata,
    spec: { scaleTargetRef, maxReplicas: 3, behavior: { scaleDown: { selectPolicy: 'Min' } } },
  });
  expect(filled?.spec?.minReplicas).toBe(1);
  expect(filled?.spec?.metrics?.[0]?.resource?.target.averageUtilization).toBe(80);
  expect(filled?.spec?.behavior).toEqual({
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    },
    scaleDown: { selectPolicy: 'Min', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
  });
});

test.each<[string, Partial<v2.HorizontalPodAutoscalerSpec>, readonly string[]]>([
  [
    'a minimum of zero',
    { minReplicas: 0 },
    [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
  ],
  [
    'no maximum',
    { maxReplicas: 0 },
    [
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    ],
  ],
  [
    'a target without a group',
    { scaleTargetRef: { kind: 'a/b', name: 'd' } },
    [
      'spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain \'/\'',
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
  ],
  [
    'a metric of another type than its source',
    { metrics: [{ type: 'Pods', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 1 } } }] },
    ['spec.metrics[0].pods: Required value: must populate information for the given metric source'],
  ],
  [
    'no policies',
    { behavior: { scaleUp: { policies: [], stabilizationWindowSeconds: 4000, tolerance: '-1' } } },
    [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to 3600',
      'spec.behavior.scaleUp.policies: Required value: must specify at least one Policy',
      'spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
])('%s is refused', (_, spec, expected) => {
  expect(v2Behaviour.validate?.(autoscaler([cpu], spec)).map(String)).toEqual(expected);
});

test('the table of autoscalers shows current and target values', () => {
  const input = {
    ...autoscaler([cpu, pods, ...others]),
    status: {
      desiredReplicas: 2,
      currentReplicas: 1,
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 42 } } }],
    },
  };
  expect(v2Behaviour.table?.cells(input, NOW)).toEqual(['a', 'Deployment/d', 'cpu: 42%/50%, <unknown>/1k + 6 more...', '1', 3, 1, '10m']);
});
