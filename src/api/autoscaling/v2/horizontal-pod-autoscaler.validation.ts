import { lookupTable } from '#base';
import {
  checkDns1123Label,
  checkPathSegmentName,
  type FieldError,
  nameIsDnsSubdomain,
  Path,
  parseGroupVersion,
  Quantity,
} from '#machinery';
import { validateContainerResourceName } from '../../core/v1/resource-list/resource-name.validation.ts';
import { FieldReport } from '../../field-report.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  ExternalMetricSource,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from './horizontal-pod-autoscaler.ts';

const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;
const EMPTY_SPEC = {} as HorizontalPodAutoscalerSpec;
const MAX_STABILIZATION_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;
const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

/** Values that existing objects may keep but new ones may not have. */
interface ReferenceRules {
  readonly allowAnyVersion?: boolean;
  readonly allowCoreGroup?: boolean;
}

interface SpecRules {
  readonly minReplicas: number;
  readonly target: ReferenceRules;
  readonly metrics: ReferenceRules;
}

export function validateHorizontalPodAutoscaler({ metadata, spec = EMPTY_SPEC }: HorizontalPodAutoscaler): FieldError[] {
  const at = FieldReport.on(SPEC, validateObjectMeta(metadata, META_RULES));
  validateSpec(spec, at, rulesFor(spec, undefined));
  return at.errors;
}

export function validateHorizontalPodAutoscalerUpdate(
  { metadata, spec = EMPTY_SPEC }: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler,
): FieldError[] {
  const at = FieldReport.on(SPEC, validateObjectMetaUpdate(metadata, old.metadata));
  validateSpec(spec, at, rulesFor(spec, old.spec));
  return at.errors;
}

export function validateHorizontalPodAutoscalerStatusUpdate(
  { metadata, status }: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler,
): FieldError[] {
  const at = FieldReport.on(STATUS, validateObjectMetaUpdate(metadata, old.metadata));
  at.child('currentReplicas').nonNegative(status?.currentReplicas);
  at.child('desiredReplicas').nonNegative(status?.desiredReplicas);
  return at.errors;
}

function rulesFor({ scaleTargetRef: ref }: HorizontalPodAutoscalerSpec, old: HorizontalPodAutoscalerSpec | undefined): SpecRules {
  const before = old?.scaleTargetRef;
  const isSame = old !== undefined && before?.apiVersion === ref?.apiVersion && before?.kind === ref?.kind;
  const described = (old?.metrics ?? []).flatMap(({ type, object }) => (type === 'Object' && object ? [object.describedObject] : []));
  const hadAnyVersion = described.some((reference) => versionProblem(reference, { allowCoreGroup: true }) !== undefined);
  return {
    minReplicas: old?.minReplicas === 0 ? 0 : 1,
    target: isSame ? { allowAnyVersion: true } : { allowCoreGroup: ref?.kind === 'ReplicationController' },
    metrics: { allowCoreGroup: true, allowAnyVersion: hadAnyVersion },
  };
}

function validateSpec(spec: HorizontalPodAutoscalerSpec, at: FieldReport, rules: SpecRules): void {
  const { minReplicas, maxReplicas = 0, metrics = [], behavior } = spec;
  if (minReplicas !== undefined && minReplicas < rules.minReplicas) {
    at.child('minReplicas').invalid(minReplicas, `must be greater than or equal to ${rules.minReplicas}`);
  }
  if (maxReplicas === 0) at.child('maxReplicas').required('must be set and greater than 0');
  else if (maxReplicas < 0) at.child('maxReplicas').invalid(maxReplicas, 'must be greater than or equal to 1');
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    at.child('maxReplicas').invalid(maxReplicas, 'must be greater than or equal to `minReplicas`');
  }
  validateReference(spec.scaleTargetRef, at.child('scaleTargetRef'), rules.target);
  metrics.forEach((metric, i) => {
    validateMetric(metric, at.child('metrics').index(i), rules.metrics);
  });
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    at.child('metrics').forbidden('must specify at least one Object or External metric to support scaling to zero replicas');
  }
  if (behavior?.scaleUp) validateScalingRules(behavior.scaleUp, at.child('behavior').child('scaleUp'));
  if (behavior?.scaleDown) validateScalingRules(behavior.scaleDown, at.child('behavior').child('scaleDown'));
}

function validateReference(reference: CrossVersionObjectReference | undefined, at: FieldReport, rules: ReferenceRules): void {
  validateSegment(reference?.kind, at.child('kind'));
  validateSegment(reference?.name, at.child('name'));
  const problem = versionProblem(reference, rules);
  if (problem !== undefined) at.child('apiVersion').invalid(reference?.apiVersion ?? '', problem);
}

function validateSegment(text: string | undefined, at: FieldReport, missing = ''): void {
  if (!text) at.required(missing);
  else at.problems(text, checkPathSegmentName(text));
}

function versionProblem(reference: CrossVersionObjectReference | undefined, rules: ReferenceRules): string | undefined {
  if (rules.allowAnyVersion) return undefined;
  try {
    const { group } = parseGroupVersion(reference?.apiVersion ?? '');
    return group === '' && !rules.allowCoreGroup ? 'apiVersion must specify API group' : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function validateScalingRules(rules: HPAScalingRules, at: FieldReport): void {
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance } = rules;
  const window = at.child('stabilizationWindowSeconds');
  if (seconds !== undefined && seconds < 0) window.invalid(seconds, 'must be greater than or equal to zero');
  if (seconds !== undefined && seconds > MAX_STABILIZATION_SECONDS) {
    window.invalid(seconds, `must be less than or equal to ${MAX_STABILIZATION_SECONDS}`);
  }
  if (selectPolicy !== undefined) at.child('selectPolicy').oneOf(selectPolicy, ['Disabled', 'Max', 'Min']);
  if (policies.length === 0) at.child('policies').required('must specify at least one Policy');
  policies.forEach((policy, i) => {
    validateScalingPolicy(policy, at.child('policies').index(i));
  });
  if (tolerance === undefined) return;
  const quantity = Quantity.parse(tolerance);
  if (quantity.sign < 0) at.child('tolerance').invalid(quantity.toString(), 'must be greater than or equal to 0');
}

function validateScalingPolicy({ type, value, periodSeconds = 0 }: HPAScalingPolicy, at: FieldReport): void {
  at.child('type').oneOf(type, ['Percent', 'Pods']);
  at.child('value').positive(value);
  at.child('periodSeconds').positive(periodSeconds);
  if (periodSeconds > MAX_PERIOD_SECONDS) {
    at.child('periodSeconds').invalid(periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`);
  }
}

const SOURCES = ['object', 'external', 'pods', 'resource', 'containerResource'] as const;
const SOURCE_OF_TYPE = lookupTable<(typeof SOURCES)[number]>({
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  External: 'external',
  ContainerResource: 'containerResource',
});

function validateMetric(metric: MetricSpec, at: FieldReport, rules: ReferenceRules): void {
  const { type = '' } = metric;
  if (type === '') at.child('type').required('must specify a metric source type');
  at.child('type').oneOf(type, METRIC_TYPES);
  const present = SOURCES.filter((source) => metric[source]);
  const [first] = present;
  if (first) validateSource(metric, at.child(first), { source: first, rules });
  const expected = SOURCE_OF_TYPE[type];
  if (expected && !metric[expected]) at.child(expected).required('must populate information for the given metric source');
  if (!expected) at.child('type').notSupported(type, METRIC_TYPES);
  if (present.length === 1) return;
  for (const source of present) if (source !== expected) at.child(source).forbidden('must populate the given metric source only');
}

interface SourceContext {
  readonly source: (typeof SOURCES)[number];
  readonly rules: ReferenceRules;
}

function validateSource(metric: MetricSpec, at: FieldReport, { source, rules }: SourceContext): void {
  if (source === 'object' && metric.object) validateObjectSource(metric.object, at, rules);
  if (source === 'external' && metric.external) validateExternalSource(metric.external, at);
  if (source === 'pods' && metric.pods) validatePodsSource(metric.pods, at);
  if (source === 'resource' && metric.resource) validateResourceSource(metric.resource, at);
  if (source === 'containerResource' && metric.containerResource) validateContainerResourceSource(metric.containerResource, at);
}

function validateObjectSource({ describedObject, metric, target }: ObjectMetricSource, at: FieldReport, rules: ReferenceRules): void {
  validateReference(describedObject, at.child('describedObject'), rules);
  validateIdentifier(metric, at.child('metric'));
  validateTarget(target, at.child('target'));
  if (target?.value !== undefined || target?.averageValue !== undefined) return;
  at.child('target').child('averageValue').required('must set either a target value or averageValue');
}

function validateExternalSource({ metric, target }: ExternalMetricSource, at: FieldReport): void {
  validateIdentifier(metric, at.child('metric'));
  validateTarget(target, at.child('target'));
  const [hasValue, hasAverage] = [target?.value !== undefined, target?.averageValue !== undefined];
  if (!hasValue && !hasAverage) {
    at.child('target').child('averageValue').required('must set either a target value for metric or a per-pod target');
  }
  if (hasValue && hasAverage)
    at.child('target').child('value').forbidden('may not set both a target value for metric and a per-pod target');
}

function validatePodsSource({ metric, target }: PodsMetricSource, at: FieldReport): void {
  validateIdentifier(metric, at.child('metric'));
  validateTarget(target, at.child('target'));
  if (target?.averageValue === undefined) at.child('target').child('averageValue').required('must specify a positive target averageValue');
}

function validateResourceSource({ name, target }: ResourceMetricSource, at: FieldReport): void {
  if (!name) at.child('name').required('must specify a resource name');
  validateResourceTarget(target, at.child('target'));
}

function validateContainerResourceSource({ name, container, target }: ContainerResourceMetricSource, at: FieldReport): void {
  if (!name) at.child('name').required('must specify a resource name');
  else at.add(validateContainerResourceName(at.child('name').path, name));
  if (!container) at.child('container').required('must specify a container');
  else at.child('container').problems(container, checkDns1123Label(container));
  validateResourceTarget(target, at.child('target'));
}

function validateResourceTarget(target: MetricTarget | undefined, at: FieldReport): void {
  validateTarget(target, at);
  const [hasUtilization, hasValue] = [target?.averageUtilization !== undefined, target?.averageValue !== undefined];
  if (!hasUtilization && !hasValue) at.child('averageUtilization').required('must set either a target raw value or a target utilization');
  if (hasUtilization && hasValue) at.child('averageValue').forbidden('may not set both a target raw value and a target utilization');
}

function validateTarget(target: MetricTarget | undefined, at: FieldReport): void {
  const { type = '', value, averageValue, averageUtilization } = target ?? {};
  if (type === '') at.child('type').required('must specify a metric target type');
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    at.child('type').invalid(type, 'must be either Utilization, Value, or AverageValue');
  }
  validatePositive(value, at.child('value'));
  validatePositive(averageValue, at.child('averageValue'));
  if (averageUtilization !== undefined && averageUtilization < 1) {
    at.child('averageUtilization').invalid(averageUtilization, 'must be greater than 0');
  }
}

function validatePositive(text: string | undefined, at: FieldReport): void {
  if (text === undefined) return;
  const quantity = Quantity.parse(text);
  if (quantity.sign <= 0) at.invalid(quantity.toString(), 'must be positive');
}

function validateIdentifier(metric: MetricIdentifier | undefined, at: FieldReport): void {
  validateSegment(metric?.name, at.child('name'), 'must specify a metric name');
}
