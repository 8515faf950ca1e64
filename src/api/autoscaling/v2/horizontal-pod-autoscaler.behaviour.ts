import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { defaultHorizontalPodAutoscaler } from './horizontal-pod-autoscaler.defaults.ts';
import {
  HorizontalPodAutoscaler,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
  type MetricValueStatus,
} from './horizontal-pod-autoscaler.ts';
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatusUpdate,
  validateHorizontalPodAutoscalerUpdate,
} from './horizontal-pod-autoscaler.validation.ts';

const UNKNOWN = '<unknown>';
const MAX_PRINTED_METRICS = 2;

export const horizontalPodAutoscalerTable: TableDefinition<HorizontalPodAutoscaler> = {
  columns: [
    NAME_COLUMN,
    column('Reference', 'What is scaled.'),
    column('Targets', 'What the metrics are, and what they are to be.'),
    column('MinPods', 'The least number of pods.'),
    column('MaxPods', 'The greatest number of pods.'),
    column('Replicas', 'How many pods there are.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
    metricsCell(spec?.metrics ?? [], status?.currentMetrics ?? []),
    spec?.minReplicas === undefined ? '<unset>' : String(spec.minReplicas),
    spec?.maxReplicas ?? 0,
    status?.currentReplicas ?? 0,
    ageCell(metadata, now),
  ],
};

function metricsCell(metrics: readonly MetricSpec[], current: readonly MetricStatus[]): string {
  if (metrics.length === 0) return '<none>';
  const texts = metrics.map((metric, i) => metricText(metric, current[i]));
  const listed = texts.slice(0, MAX_PRINTED_METRICS).join(', ');
  return texts.length > MAX_PRINTED_METRICS ? `${listed} + ${texts.length - MAX_PRINTED_METRICS} more...` : listed;
}

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external?.target, status?.external?.current);
    case 'Object':
      return valueText(metric.object?.target, status?.object?.current);
    case 'Pods':
      return `${amount(status?.pods?.current, 'averageValue')}/${metric.pods?.target?.averageValue ?? '<nil>'}`;
    case 'Resource':
      return `${metric.resource?.name}: ${resourceText(metric.resource?.target, status?.resource?.current)}`;
    case 'ContainerResource':
      return `${metric.containerResource?.name}: ${resourceText(metric.containerResource?.target, status?.containerResource?.current)}`;
    default:
      return '<unknown type>';
  }
}

function valueText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
  return `${amount(current, 'value')}/${target?.value ?? '<nil>'}`;
}

function resourceText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${amount(current, 'averageValue')}/${target.averageValue}`;
  const now = current?.averageUtilization === undefined ? UNKNOWN : `${current.averageUtilization}%`;
  return `${now}/${target?.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`}`;
}

// A status without a value is printed as unknown.
function amount(current: MetricValueStatus | undefined, field: 'value' | 'averageValue'): string {
  return current ? (current[field] ?? '<nil>') : UNKNOWN;
}

export const horizontalPodAutoscalerBehaviour: KindBehaviour<HorizontalPodAutoscaler> = {
  kind: HorizontalPodAutoscaler,
  defaults: defaultHorizontalPodAutoscaler,
  validate: validateHorizontalPodAutoscaler,
  validateUpdate: validateHorizontalPodAutoscalerUpdate,
  validateStatusUpdate: validateHorizontalPodAutoscalerStatusUpdate,
  table: horizontalPodAutoscalerTable,
};
