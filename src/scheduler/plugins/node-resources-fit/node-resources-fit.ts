import type { core } from '#api';
import {
  ALLOWED_PODS,
  CPU,
  CPU_SCORED,
  CPU_USED,
  MEMORY,
  MEMORY_SCORED,
  MEMORY_USED,
  type NodeInfo,
  POD_COUNT,
  STORAGE,
  STORAGE_USED,
} from '../../framework/node-info.ts';
import { MAX_SCORE } from '../../framework/normalize-scores.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { amountsOf, listAmounts, podRequests, QuantityReader, type ResourceAmounts } from '../../framework/pod-resources.ts';
import { type Status, unresolvable, unschedulable } from '../../framework/status.ts';
import { backedResources, classForResource } from '../dynamic-resources/extended-resources.ts';
import { resourceScorer } from './resource-scorer.ts';
import { scoringStrategy } from './scoring-strategy.ts';

const NAME = 'NodeResourcesFit';

/** A pod's requests must be free on its node; the score is the strategy's, by default the emptier the better. */
export const nodeResourcesFit: PluginFactory = (args, { objects }): Plugin => {
  const isIgnored = ignoredResources(args);
  const isDevice = (name: string) => classForResource(name, objects.deviceClasses) !== undefined;
  // Devices that no device plugin of the node advertises are allocated by DynamicResources.
  const isUncounted: IsUncounted = (name, { allocatable }) =>
    isIgnored?.(name) === true || (!allocatable.scalars?.get(name) && isDevice(name));
  const { resources, score } = scoringStrategy(args.scoringStrategy);
  const scorer = resourceScorer(resources, false);
  const isDefault = args.scoringStrategy === undefined;
  const quantities = new QuantityReader();
  return {
    name: NAME,
    events: [
      {
        resource: 'AssignedPod',
        actions: ['Delete', 'UpdatePodScaleDown'],
        hint: (pod, { before, after }) => freesWhatIsNeeded(pod, { before, after, quantities }),
      },
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeAllocatable'],
        hint: (pod, { after }) => (couldEverFit(pod, after as core.Node, { quantities, isDevice }) ? 'Queue' : 'Skip'),
      },
      { resource: 'UnscheduledPod', actions: ['UpdatePodScaleDown'] },
      { resource: 'DeviceClass', actions: ['Add', 'Update'], hint: (pod) => (pod.requests.scalars === undefined ? 'Skip' : 'Queue') },
    ],
    // Which resources are devices depends on the current device classes.
    sign: (pod) =>
      pod.requests.scalars === undefined ? signResources(pod) : [signResources(pod), backedResources(pod, objects.deviceClasses)],
    filter: (_, pod, node) => (fits(pod, node, isUncounted) ? undefined : explain(pod, node, isUncounted)),
    score: isDefault ? leastAllocatedOfBoth : (_, pod, node) => score(scorer.measure(pod, node)),
  };
};

/** Includes all inputs of the resource scores. */
export function signResources({ requests, nonZeroMilliCpu, nonZeroMemory }: PodInfo): unknown {
  const { milliCpu, memory, ephemeralStorage, scalars } = requests;
  const plain = `${milliCpu} ${memory} ${ephemeralStorage} ${nonZeroMilliCpu} ${nonZeroMemory}`;
  return scalars === undefined ? plain : [plain, ...scalars];
}

/** LeastAllocated of CPU and memory with equal weights, specialised: it runs for every feasible node of every pod. */
function leastAllocatedOfBoth(_: unknown, pod: PodInfo, { amounts }: NodeInfo): number {
  const cpu = amounts[CPU] as number;
  const memory = amounts[MEMORY] as number;
  const freeCpu = cpu - (amounts[CPU_SCORED] as number) - pod.nonZeroMilliCpu;
  const freeMemory = memory - (amounts[MEMORY_SCORED] as number) - pod.nonZeroMemory;
  const cpuScore = freeCpu > 0 ? Math.trunc((freeCpu * MAX_SCORE) / cpu) : 0;
  const memoryScore = freeMemory > 0 ? Math.trunc((freeMemory * MAX_SCORE) / memory) : 0;
  if (cpu === 0) return memoryScore;
  return memory === 0 ? cpuScore : (cpuScore + memoryScore) >> 1;
}

type IsUncounted = (resource: string, node: NodeInfo) => boolean;
type IsIgnored = ((resource: string) => boolean) | undefined;

function ignoredResources({
  ignoredResources: names = [],
  ignoredResourceGroups: groups = [],
}: Readonly<Record<string, unknown>>): IsIgnored {
  const ignored = new Set(names as readonly string[]);
  const ignoredGroups = new Set(groups as readonly string[]);
  if (ignored.size === 0 && ignoredGroups.size === 0) return undefined;
  return (resource) => ignored.has(resource) || ignoredGroups.has(resource.split('/')[0] as string);
}

/** A check without allocations, for the common case. */
function fits({ requests }: PodInfo, node: NodeInfo, isUncounted: IsUncounted): boolean {
  const { amounts, allocatable, scalarsUsed } = node;
  const { milliCpu, memory, ephemeralStorage, scalars } = requests;
  if ((amounts[POD_COUNT] as number) + 1 > (amounts[ALLOWED_PODS] as number)) return false;
  if (milliCpu > 0 && milliCpu > (amounts[CPU] as number) - (amounts[CPU_USED] as number)) return false;
  if (memory > 0 && memory > (amounts[MEMORY] as number) - (amounts[MEMORY_USED] as number)) return false;
  if (ephemeralStorage > 0 && ephemeralStorage > (amounts[STORAGE] as number) - (amounts[STORAGE_USED] as number)) return false;
  if (scalars === undefined) return true;
  for (const [name, amount] of scalars) {
    if (amount === 0 || isUncounted(name, node)) continue;
    if (amount > (allocatable.scalars?.get(name) ?? 0) - (scalarsUsed.get(name) ?? 0)) return false;
  }
  return true;
}

function explain({ requests }: PodInfo, node: NodeInfo, isUncounted: IsUncounted): Status {
  const { amounts, allocatable, scalarsUsed } = node;
  const reasons: string[] = (amounts[POD_COUNT] as number) + 1 > (amounts[ALLOWED_PODS] as number) ? ['Too many pods'] : [];
  let isUnresolvable = false;
  const check = (name: string, amount: number, { total, used }: { total: number; used: number }) => {
    if (amount <= 0 || amount <= total - used) return;
    reasons.push(`Insufficient ${name}`);
    isUnresolvable ||= amount > total;
  };
  check('cpu', requests.milliCpu, { total: allocatable.milliCpu, used: amounts[CPU_USED] as number });
  check('memory', requests.memory, { total: allocatable.memory, used: amounts[MEMORY_USED] as number });
  check('ephemeral-storage', requests.ephemeralStorage, { total: allocatable.ephemeralStorage, used: amounts[STORAGE_USED] as number });
  for (const [name, amount] of requests.scalars ?? []) {
    if (isUncounted(name, node)) continue;
    check(name, amount, { total: allocatable.scalars?.get(name) ?? 0, used: scalarsUsed.get(name) ?? 0 });
  }
  return { ...(isUnresolvable ? unresolvable(NAME) : unschedulable(NAME)), reasons };
}

interface PodChange {
  readonly before: unknown;
  readonly after: unknown;
  readonly quantities: QuantityReader;
}

function freesWhatIsNeeded({ requests }: PodInfo, { before, after, quantities }: PodChange): 'Queue' | 'Skip' {
  // A deleted pod always frees a slot of the node's pod limit.
  if (after === undefined) return 'Queue';
  const was = podRequests(before as core.Pod, quantities).requests;
  const is = podRequests(after as core.Pod, quantities).requests;
  return frees(requests, was, is) ? 'Queue' : 'Skip';
}

function frees(needed: ResourceAmounts, was: ResourceAmounts, is: ResourceAmounts): boolean {
  if (needed.milliCpu > 0 && is.milliCpu < was.milliCpu) return true;
  if (needed.memory > 0 && is.memory < was.memory) return true;
  if (needed.ephemeralStorage > 0 && is.ephemeralStorage < was.ephemeralStorage) return true;
  return [...(needed.scalars ?? [])].some(([name]) => (is.scalars?.get(name) ?? 0) < (was.scalars?.get(name) ?? 0));
}

interface FitDeps {
  readonly quantities: QuantityReader;
  isDevice(resource: string): boolean;
}

function couldEverFit({ requests }: PodInfo, node: core.Node, { quantities, isDevice }: FitDeps): boolean {
  const listed = listAmounts(node.status?.allocatable as Readonly<Record<string, string>> | undefined, quantities);
  const allocatable = amountsOf(listed);
  if ((listed.get('pods') ?? 0) < 1) return false;
  if (requests.milliCpu > allocatable.milliCpu || requests.memory > allocatable.memory) return false;
  if (requests.ephemeralStorage > allocatable.ephemeralStorage) return false;
  return [...(requests.scalars ?? [])].every(([name, amount]) => amount <= (allocatable.scalars?.get(name) ?? 0) || isDevice(name));
}
