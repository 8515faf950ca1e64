import { type core, quota } from '#api';
import { Quantity } from '#machinery';
import { withoutStatus } from './pod-allocation.ts';
import type { PodWorker } from './worker.ts';

type Candidate = Pick<PodWorker, 'pod' | 'desired' | 'resize'>;

/** The pods whose resize is deferred, in upstream's order: those that need no more than they have, then by priority, class and age. */
export function sortByResizePriority<T extends Candidate>(workers: readonly T[]): T[] {
  const deferred = workers.filter(({ resize }) => resize.isDeferred);
  return deferred.toSorted(
    (a, b) =>
      Number(isIncrease(a)) - Number(isIncrease(b)) ||
      priorityOf(b) - priorityOf(a) ||
      Number(isGuaranteed(b)) - Number(isGuaranteed(a)) ||
      (a.resize.pendingSince < b.resize.pendingSince ? -1 : 1),
  );
}

function isIncrease({ pod, desired }: Candidate): boolean {
  const [has, wants] = [quota.podRequests(withoutStatus(pod)), quota.podRequests(withoutStatus(desired))];
  return ['cpu', 'memory'].some((name) => (wants.get(name) ?? Quantity.zero).compare(has.get(name) ?? Quantity.zero) > 0);
}

function priorityOf({ pod }: Candidate): number {
  return pod.spec?.priority ?? 0;
}

function isGuaranteed({ pod: { status } }: { readonly pod: core.Pod }): boolean {
  return status?.qosClass === 'Guaranteed';
}
