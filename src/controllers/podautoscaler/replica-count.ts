import type { core } from '#api';
import { isPodReady } from '../runtime/pod-state.ts';
import { groupPods, type PodGroups, type PodReadings, type ReadinessPeriods } from './group-pods.ts';
import { requestsOf } from './pod-requests.ts';

/** How far the ratio of a metric to its target may differ from 1 without scaling. */
export interface Tolerances {
  readonly scaleDown: number;
  readonly scaleUp: number;
}

/** The input of replica counts besides the metric. Values are integers, in thousandths. */
export interface PodsView {
  /** The target's pods. */
  readonly pods: readonly core.Pod[];
  /** The replicas in the target's spec and status. */
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
  readonly periods: ReadinessPeriods;
  readonly now: number;
}

export interface Count {
  readonly replicas: number;
  /** The current value of the metric. */
  readonly usage: number;
}

export interface UtilizationCount extends Count {
  /** The percentage of the pods' requests. */
  readonly utilization: number;
}

const MAX_INT32 = 2 ** 31 - 1;

export interface UtilizationTarget {
  readonly resource: string;
  /** Empty: the whole pod. */
  readonly container: string;
  readonly utilization: number;
}

/** By utilization: a percentage of the pods' requests. */
export function countByUtilization(readings: PodReadings, target: UtilizationTarget, view: PodsView): UtilizationCount {
  const { groups, values } = usableReadings(readings, target.resource, view);
  const requests = requestsOf(view.pods, target.resource, target.container);
  const ratioOf = (of: Values) => utilizationOf(of, requests).utilization / target.utilization;
  const { utilization, average } = utilizationOf(values, requests);
  // Pods without metrics are assumed to use 100% of their requests, or the target if that is higher.
  const fallback = Math.max(100, target.utilization);
  const missingUse = (pod: string) => Math.trunc(((requests.get(pod) ?? 0) * fallback) / 100);
  return { replicas: countWithGaps(values, groups, { ratioOf, missingUse, view }), usage: average, utilization };
}

/** By the average value per pod. */
export function countByAverage(readings: PodReadings, target: { resource: string; average: number }, view: PodsView): Count {
  const { groups, values } = usableReadings(readings, target.resource, view);
  const ratioOf = (of: Values) => averageOf(of) / target.average;
  const replicas = countWithGaps(values, groups, { ratioOf, missingUse: () => target.average, view });
  return { replicas, usage: averageOf(values) };
}

/** By one value of all pods together. */
export function countByValue(usage: number, target: number, view: PodsView): Count {
  const ratio = usage / target;
  if (view.specReplicas === 0) return { replicas: asCount(ratio), usage };
  if (isWithin(ratio, view.tolerances)) return { replicas: view.specReplicas, usage };
  return { replicas: asCount(ratio * readyPods(view)), usage };
}

/** By the average of one value over the pods. */
export function countByShare(usage: number, target: number, { statusReplicas, tolerances }: PodsView): Count {
  const isWithinTolerance = isWithin(usage / (target * statusReplicas), tolerances);
  const replicas = isWithinTolerance ? statusReplicas : asCount(usage / target);
  return { replicas, usage: statusReplicas === 0 ? 0 : Math.ceil(usage / statusReplicas) };
}

function readyPods({ pods }: PodsView): number {
  if (pods.length === 0) {
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count');
  }
  return pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length;
}

type Values = ReadonlyMap<string, number>;

function usableReadings(readings: PodReadings, resource: string, { pods, now, periods }: PodsView) {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const groups = groupPods(pods, readings, { resource, now, periods });
  const usable = [...readings].filter(([pod]) => !groups.ignored.has(pod) && !groups.unready.has(pod));
  if (usable.length === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  return { groups, values: new Map(usable.map(([pod, { value }]) => [pod, value])) as Values };
}

interface Gaps {
  readonly ratioOf: (values: Values) => number;
  /** The assumed usage of a pod without metrics when scaling down. */
  readonly missingUse: (pod: string) => number;
  readonly view: PodsView;
}

/** Pods without metrics are assumed to use what dampens the change; if that reverses its direction, nothing is scaled. */
function countWithGaps(values: Values, groups: PodGroups, { ratioOf, missingUse, view }: Gaps): number {
  const { specReplicas, tolerances } = view;
  const ratio = ratioOf(values);
  const countsUnready = groups.unready.size > 0 && ratio > 1;
  if (!countsUnready && groups.missing.size === 0) {
    return isWithin(ratio, tolerances) ? specReplicas : asCount(ratio * groups.readyCount);
  }
  const filled = new Map(values);
  if (ratio !== 1) for (const pod of groups.missing) filled.set(pod, ratio < 1 ? missingUse(pod) : 0);
  if (countsUnready) for (const pod of groups.unready) filled.set(pod, 0);
  const cautious = ratioOf(filled);
  const turns = (ratio < 1 && cautious > 1) || (ratio > 1 && cautious < 1);
  if (turns || isWithin(cautious, tolerances)) return specReplicas;
  const replicas = asCount(cautious * filled.size);
  const contradicts = (cautious < 1 && replicas > specReplicas) || (cautious > 1 && replicas < specReplicas);
  return contradicts ? specReplicas : replicas;
}

function isWithin(ratio: number, { scaleDown, scaleUp }: Tolerances): boolean {
  return 1 - scaleDown <= ratio && ratio <= 1 + scaleUp;
}

function asCount(replicas: number): number {
  return Math.min(Math.ceil(replicas), MAX_INT32);
}

function averageOf(values: Values): number {
  return Math.trunc([...values.values()].reduce((sum, value) => sum + value, 0) / values.size);
}

function utilizationOf(values: Values, requests: ReadonlyMap<string, number>): { readonly utilization: number; readonly average: number } {
  let used = 0;
  let requested = 0;
  let count = 0;
  for (const [pod, value] of values) {
    const request = requests.get(pod);
    if (request === undefined) continue;
    used += value;
    requested += request;
    count++;
  }
  if (requested === 0) throw new Error('no metrics returned matched known pods');
  // Bytes in thousandths, times 100, exceed the safe integers of a double.
  return { utilization: Number((BigInt(used) * 100n) / BigInt(requested)), average: Math.trunc(used / count) };
}
