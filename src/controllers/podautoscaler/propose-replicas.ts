import type { autoscalingV2 } from '#api';
import { goQuote, labelSelectorGoText, Quantity } from '#machinery';
import type { PodReadings } from './group-pods.ts';
import type { MetricReading } from './metric-reading.ts';
import { type Count, countByAverage, countByShare, countByUtilization, countByValue, type PodsView } from './replica-count.ts';

type MetricSpec = autoscalingV2.MetricSpec;
type MetricStatus = autoscalingV2.MetricStatus;
type MetricTarget = autoscalingV2.MetricTarget;
type MetricIdentifier = autoscalingV2.MetricIdentifier;

/** The number of replicas proposed by one metric. */
export interface Proposal {
  readonly replicas: number;
  /** The metric's name in messages. */
  readonly metric: string;
  readonly status: MetricStatus;
}

/** A metric that could not be computed. */
export class MetricFailure extends Error {
  override readonly name = 'MetricFailure';

  constructor(
    /** The reason of events and conditions. */
    readonly reason: string,
    /** The message of events and conditions; the error's own message adds context. */
    readonly detail: string,
    message: string,
  ) {
    super(message);
  }
}

export interface ProposalContext extends PodsView {
  readonly namespace: string;
}

/** Throws a MetricFailure. */
export function proposeReplicas(spec: MetricSpec, reading: MetricReading, context: ProposalContext): Proposal {
  const { object, pods, resource, containerResource, external } = spec;
  if (spec.type === 'Object' && object) return byObject(object, reading, context);
  if (spec.type === 'Pods' && pods) return byPods(pods, reading, context);
  if (spec.type === 'Resource' && resource) return byResource(resource, reading, context);
  if (spec.type === 'ContainerResource' && containerResource) return byContainer(containerResource, reading, context);
  if (spec.type === 'External' && external) return byExternal(external, reading, context);
  const text = `unknown metric source type ${goQuote(spec.type)}`;
  throw new MetricFailure('InvalidMetricSourceType', text, text);
}

interface FailureText {
  readonly reason: string;
  /** The start of the error message. */
  readonly prefix: string;
}

function attempt<T>({ reason, prefix }: FailureText, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { message } = error as Error;
    throw new MetricFailure(reason, message, prefix + message);
  }
}

function prefixed<T>(prefix: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(prefix + (error as Error).message, { cause: error });
  }
}

function podsIn(reading: MetricReading, explain: (problem: string) => string): PodReadings {
  if (reading.type === 'pods') return reading.pods;
  throw new Error(problemOf(reading, explain));
}

function valueIn(reading: MetricReading, explain: (problem: string) => string): number {
  if (reading.type === 'value') return reading.value;
  throw new Error(problemOf(reading, explain));
}

function problemOf(reading: MetricReading, explain: (problem: string) => string): string {
  if (reading.type === 'invalid') return reading.message;
  return explain(reading.type === 'failure' ? reading.message : `the metrics API answered with a ${reading.type}`);
}

function milli(quantity: string): number {
  return Quantity.parse(quantity).milliValue();
}

function amount(value: number): string {
  return Quantity.ofMilli(value).toString();
}

function identifierOf({ name, selector }: MetricIdentifier): MetricIdentifier {
  return { name, ...(selector && { selector }) };
}

function byObject(source: autoscalingV2.ObjectMetricSource, reading: MetricReading, context: ProposalContext): Proposal {
  const { describedObject, metric, target } = source;
  const { averageValue, value } = target;
  const isShared = target.type === 'AverageValue' && averageValue !== undefined;
  const where = isShared ? `failed to get ${metric.name} object metric: ` : '';
  return attempt({ reason: 'FailedGetObjectMetric', prefix: `failed to get object metric value: ${where}` }, () => {
    const current = (usage: object) => ({
      type: 'Object',
      object: { describedObject, metric: identifierOf(metric), current: usage },
    });
    // Upstream swaps the object's name and the problem in this message.
    const explain = (problem: string) =>
      `unable to get metric ${metric.name}: ${describedObject.kind} on ${context.namespace} ${describedObject.name}/${problem}`;
    if (target.type === 'Value' && value !== undefined) {
      const { replicas, usage } = countByValue(valueIn(reading, explain), milli(value), context);
      return { replicas, metric: `${describedObject.kind} metric ${metric.name}`, status: current({ value: amount(usage) }) };
    }
    if (!isShared) throw new Error('invalid object metric source: neither a value target nor an average value target was set');
    const { replicas, usage } = countByShare(valueIn(reading, explain), milli(averageValue), context);
    return { replicas, metric: externalName(metric), status: current({ averageValue: amount(usage) }) };
  });
}

function byPods({ metric, target }: autoscalingV2.PodsMetricSource, reading: MetricReading, context: ProposalContext): Proposal {
  return attempt({ reason: 'FailedGetPodsMetric', prefix: 'failed to get pods metric value: ' }, () => {
    const readings = podsIn(reading, (problem) => `unable to get metric ${metric.name}: ${problem}`);
    const { replicas, usage } = countByAverage(readings, { resource: '', average: milli(target.averageValue ?? '0') }, context);
    const status = { type: 'Pods', pods: { metric: identifierOf(metric), current: { averageValue: amount(usage) } } };
    return { replicas, metric: `pods metric ${metric.name}`, status };
  });
}

function byResource({ name, target }: autoscalingV2.ResourceMetricSource, reading: MetricReading, context: ProposalContext): Proposal {
  return attempt({ reason: 'FailedGetResourceMetric', prefix: `failed to get ${name} resource metric value: ` }, () => {
    const { current, ...rest } = resourceProposal({ name, container: '', target }, reading, context);
    return { ...rest, status: { type: 'Resource', resource: { name, current } } };
  });
}

function byContainer(
  { name, container, target }: autoscalingV2.ContainerResourceMetricSource,
  reading: MetricReading,
  context: ProposalContext,
): Proposal {
  return attempt({ reason: 'FailedGetContainerResourceMetric', prefix: `failed to get ${container} container metric value: ` }, () => {
    const { current, ...rest } = resourceProposal({ name, container, target }, reading, context);
    return { ...rest, status: { type: 'ContainerResource', containerResource: { name, container, current } } };
  });
}

interface ResourceSource {
  readonly name: string;
  readonly container: string;
  readonly target: MetricTarget;
}

function resourceProposal({ name, container, target }: ResourceSource, reading: MetricReading, context: ProposalContext) {
  const { averageValue, averageUtilization } = target;
  const readings = () => podsIn(reading, (problem) => `unable to get metrics for resource ${name}: ${problem}`);
  if (averageValue !== undefined) {
    return prefixed(`failed to get ${name} usage: `, () => {
      const { replicas, usage } = countByAverage(readings(), { resource: name, average: milli(averageValue) }, context);
      return { replicas, metric: `${name} resource`, current: { averageValue: resourceAmount(name, usage) } };
    });
  }
  if (averageUtilization === undefined) {
    throw new Error('invalid resource metric source: neither an average utilization target nor an average value (usage) target was set');
  }
  return prefixed(`failed to get ${name} utilization: `, () => {
    const counted = countByUtilization(readings(), { resource: name, container, utilization: averageUtilization }, context);
    const metric = `${name} ${container === '' ? '' : 'container '}resource utilization (percentage of request)`;
    const current = { averageUtilization: counted.utilization, averageValue: resourceAmount(name, counted.usage) };
    return { replicas: counted.replicas, metric, current };
  });
}

/** Memory in bytes, other resources in thousandths. */
function resourceAmount(resource: string, usage: number): string {
  return Quantity.ofMilli(usage, resource === 'memory' ? 'BinarySI' : 'DecimalSI').toString();
}

function byExternal({ metric, target }: autoscalingV2.ExternalMetricSource, reading: MetricReading, context: ProposalContext): Proposal {
  const { averageValue, value } = target;
  const { name } = metric;
  const where = externalPrefix(name, target);
  return attempt({ reason: 'FailedGetExternalMetric', prefix: `failed to get ${name} external metric value: ${where}` }, () => {
    const explain = (problem: string) =>
      `unable to get external metric ${context.namespace}/${name}/${labelSelectorGoText(metric.selector)}: ${problem}`;
    const propose = ({ replicas }: Count, current: object) => ({
      replicas,
      metric: externalName(metric),
      status: { type: 'External', external: { metric: identifierOf(metric), current } },
    });
    if (averageValue !== undefined) {
      const count = countByShare(valueIn(reading, explain), milli(averageValue), context);
      return propose(count, { averageValue: amount(count.usage) });
    }
    if (value === undefined) throw new Error('invalid external metric source: neither a value target nor an average value target was set');
    const count = countByValue(valueIn(reading, explain), milli(value), context);
    return propose(count, { value: amount(count.usage) });
  });
}

function externalPrefix(name: string, { averageValue, value }: MetricTarget): string {
  if (averageValue !== undefined) return `failed to get ${name} external metric: `;
  return value === undefined ? '' : `failed to get external metric ${name}: `;
}

function externalName({ name, selector }: MetricIdentifier): string {
  return `external metric ${name}(${labelSelectorGoText(selector)})`;
}
