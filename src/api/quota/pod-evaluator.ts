import { deepEqual, type JsonValue, parseTime, Quantity } from '#machinery';
import type { PodAffinityTerm } from '../core/v1/pod/affinity.ts';
import type { Pod } from '../core/v1/pod/pod.ts';
import { isTerminalPhase } from '../core/v1/pod/pod-phase.ts';
import { computePodQOS } from '../core/v1/pod/pod-qos.ts';
import { isExtendedResource, isHugePages, isNativeResource } from '../core/v1/resource-list/resource-name.ts';
import type { ScopedResourceSelectorRequirement } from '../core/v1/resource-quota/resource-quota.ts';
import { type Amounts, addAmounts } from './amounts.ts';
import { objectCountName, type QuotaEvaluator } from './evaluator.ts';
import { podLimits, podRequests } from './pod-resources.ts';
import { namesMatchScope } from './scope-selector.ts';

const PODS = { group: '', resource: 'pods' };
const COUNT = objectCountName(PODS);
const REQUESTS = 'requests.';
const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/';
const MEASURED = ['cpu', 'memory', 'ephemeral-storage'];
const NAMES: ReadonlySet<string> = new Set([
  COUNT,
  'pods',
  ...MEASURED,
  ...MEASURED.map((name) => `requests.${name}`),
  ...MEASURED.map((name) => `limits.${name}`),
]);
const ONE = Quantity.of(1);

export const podEvaluator: QuotaEvaluator<Pod> = {
  ...PODS,
  matching: (names) =>
    names.filter((name) => NAMES.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-') || isExtendedRequest(name)),
  usage: (pod, now) =>
    countsAsRunning(pod, now)
      ? addAmounts(new Map([[COUNT, ONE]]), resourceUsage(podRequests(pod), podLimits(pod)))
      : new Map([[COUNT, ONE]]),
  matchesScope: podMatchesScope,
  changesUsage(before, after, now) {
    if (resourcesChanged(before, after) || isTerminating(before) !== isTerminating(after)) return true;
    return countsAsRunning(before, now) && !countsAsRunning(after, now);
  },
};

/** `requests.example.com/gpu`, and resources backed by a device class. */
export function isExtendedRequest(name: string): boolean {
  return name.startsWith(REQUESTS) && (!isNativeResource(name) || name.startsWith(REQUESTS + DEVICE_CLASS));
}

/** The quota names of the requests and limits of a pod or a container. */
export function resourceUsage(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map([['pods', ONE]]);
  for (const name of MEASURED) {
    const request = requests.get(name);
    const limit = limits.get(name);
    if (request) usage.set(name, request).set(`requests.${name}`, request);
    if (limit) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (isHugePages(name)) usage.set(name, request);
    if (isHugePages(name) || isExtendedResource(name) || name.startsWith(DEVICE_CLASS)) usage.set(REQUESTS + name, request);
  }
  return usage;
}

/** A terminated pod uses nothing, nor does one past its deletion grace period, for example on a lost node. */
export function countsAsRunning({ metadata, status }: Pod, now: number): boolean {
  if (isTerminalPhase(status?.phase)) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadata;
  return deletionTimestamp === undefined || grace === undefined || now <= parseTime(deletionTimestamp) + grace * 1000;
}

export function isTerminating({ spec }: Pod): boolean {
  return (spec?.activeDeadlineSeconds ?? -1) >= 0;
}

function podMatchesScope(requirement: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass':
      return namesMatchScope(requirement, pod.spec?.priorityClassName ? [pod.spec.priorityClassName] : []);
    case 'CrossNamespacePodAffinity':
      return usesOtherNamespaces(pod);
    default:
      return false;
  }
}

function isBestEffort({ spec, status }: Pod): boolean {
  return (status?.qosClass || (spec ? computePodQOS(spec) : 'BestEffort')) === 'BestEffort';
}

function usesOtherNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  const terms = [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return terms.some((term: PodAffinityTerm) => (term.namespaces?.length ?? 0) > 0 || term.namespaceSelector !== undefined);
}

function resourcesChanged(before: Pod, after: Pod): boolean {
  const statuses = ({ status }: Pod) => [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const now = new Map(
    statuses(after)
      .map((status) => [status.name, status] as const)
      .reverse(),
  );
  return statuses(before).some((old) => {
    const next = now.get(old.name);
    return next !== undefined && !deepEqual(old.resources as unknown as JsonValue, next.resources as unknown as JsonValue);
  });
}
