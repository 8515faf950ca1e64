import { type core, quota } from '#api';
import { Quantity } from '#machinery';
import { isSidecar } from '../pod-state.ts';
import { isNodeCritical } from './critical-pods.ts';

const GUARANTEED_SCORE = -997;
const BEST_EFFORT_SCORE = 1000;

/** oom_score_adj: containers that request less memory are killed first. */
export function oomScoreAdjustment(pod: core.Pod, container: core.Container, capacityBytes: number): number {
  if (isNodeCritical(pod)) return GUARANTEED_SCORE;
  const qos = pod.status?.qosClass ?? 'BestEffort';
  if (qos === 'Guaranteed') return GUARANTEED_SCORE;
  if (qos === 'BestEffort') return BEST_EFFORT_SCORE;
  const bytes = memoryRequest(container, pod) + unassignedShare(pod);
  // Rounded down before the subtraction, as upstream.
  const score = 1000 - Math.floor((1000 * bytes) / capacityBytes);
  if (score < 1000 + GUARANTEED_SCORE) return 1000 + GUARANTEED_SCORE;
  return score === BEST_EFFORT_SCORE ? score - 1 : score;
}

/** A sidecar counts as much as the smallest container that it serves, so that it is not killed before. */
function memoryRequest(container: core.Container, { spec }: core.Pod): number {
  const own = requestOf(container);
  const isSidecarOfPod = isSidecar(container) && (spec?.initContainers ?? []).some(({ name }) => name === container.name);
  if (!isSidecarOfPod) return own;
  const smallest = (spec?.containers ?? []).reduce((least, one) => Math.min(least, requestOf(one)), Number.POSITIVE_INFINITY);
  return Math.max(own, Number.isFinite(smallest) ? smallest : 0);
}

function requestOf({ resources }: Pick<core.Container, 'resources'>): number {
  const { memory } = resources?.requests ?? {};
  return memory === undefined ? 0 : Quantity.parse(memory).value();
}

/** What the pod requests beyond its containers, in equal parts for all of them. */
function unassignedShare({ metadata, spec }: core.Pod): number {
  const { memory } = spec?.resources?.requests ?? {};
  if (memory === undefined) return 0;
  const withoutPodLevel = { metadata, spec: { ...spec, resources: undefined } as never };
  const assigned = quota.podRequests(withoutPodLevel).get('memory')?.value() ?? 0;
  const count = (spec?.containers ?? []).length + (spec?.initContainers ?? []).length;
  return Math.max(0, Math.floor((Quantity.parse(memory).value() - assigned) / count));
}
