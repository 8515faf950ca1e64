import { type core, quota } from '#api';
import { withoutStatus } from '../pods/pod-allocation.ts';
import type { ContainerUse, PodUse, PodUses } from './measurements.ts';
import { resourceOf, type Signal, type StarvedResource } from './thresholds.ts';

interface Candidate {
  readonly pod: core.Pod;
  readonly isMeasured: boolean;
  readonly exceedsRequest: boolean;
  readonly priority: number;
  /** Usage above the pod's request. */
  readonly excess: number;
}

export interface RankFacts {
  readonly uses: PodUses;
  /** Images and writable layers are on a separate file system. */
  readonly hasImageFs: boolean;
}

/** The pods in eviction order: those above their requests first, then by priority, then by the excess. Pure. */
export function rankPods(pods: readonly core.Pod[], signal: Signal, facts: RankFacts): readonly core.Pod[] {
  const resource = resourceOf(signal);
  const candidates = pods.map((pod) => candidateOf(pod, { ...facts, signal, resource }));
  return candidates.toSorted(resource === 'pids' ? compareByPriority : compareByExcess).map(({ pod }) => pod);
}

/** Unmeasured pods first. */
function compareByExcess(a: Candidate, b: Candidate): number {
  return (
    Number(a.isMeasured) - Number(b.isMeasured) ||
    Number(b.exceedsRequest) - Number(a.exceedsRequest) ||
    a.priority - b.priority ||
    b.excess - a.excess
  );
}

/** There are no requests for pids: only the priority counts. */
function compareByPriority(a: Candidate, b: Candidate): number {
  return a.priority - b.priority || Number(a.isMeasured) - Number(b.isMeasured) || b.excess - a.excess;
}

function candidateOf(pod: core.Pod, facts: RankFacts & { readonly signal: Signal; readonly resource: StarvedResource }): Candidate {
  const use = facts.uses.get(pod.metadata.uid ?? '');
  const priority = pod.spec?.priority ?? 0;
  if (use === undefined) return { pod, isMeasured: false, exceedsRequest: false, priority, excess: 0 };
  const used = usedAmount(use, facts);
  const request = requestOf(pod, facts.resource);
  // Upstream compares inodes with the storage request in bytes.
  const weight = facts.resource === 'inodes' ? requestOf(pod, 'ephemeral-storage') : request;
  return { pod, isMeasured: true, exceedsRequest: used > request, priority, excess: used - weight };
}

function requestOf(pod: core.Pod, resource: StarvedResource): number {
  return quota.podRequests(withoutStatus(pod)).get(resource)?.value() ?? 0;
}

function usedAmount(use: PodUse, facts: RankFacts & { readonly signal: Signal; readonly resource: StarvedResource }): number {
  const { signal, resource, hasImageFs } = facts;
  if (resource === 'memory') return use.memoryBytes ?? 0;
  if (resource === 'pids') return use.processes ?? 0;
  const isImageFs = signal.startsWith('imagefs.');
  const parts = { rootfs: !hasImageFs || isImageFs, local: !hasImageFs || !isImageFs };
  const isBytes = resource === 'ephemeral-storage';
  const ofContainers = use.containers.reduce((sum, container) => sum + containerAmount(container, parts, isBytes), 0);
  return ofContainers + (parts.local ? (isBytes ? use.volumeBytes : use.volumeInodes) : 0);
}

function containerAmount(use: ContainerUse, parts: { readonly rootfs: boolean; readonly local: boolean }, isBytes: boolean): number {
  const rootfs = (isBytes ? use.rootfsBytes : use.rootfsInodes) ?? 0;
  const logs = (isBytes ? use.logBytes : use.logInodes) ?? 0;
  return (parts.rootfs ? rootfs : 0) + (parts.local ? logs : 0);
}
