import type { core } from '#api';
import { itemNamed } from '#base';
import { isSidecar, shouldRestart } from '../pods/pod-state.ts';
import { RESTARTING_REASON } from '../pods/restart-all.ts';

export interface PhaseFacts {
  readonly pod: core.Pod;
  readonly initStatuses: readonly core.ContainerStatus[];
  readonly statuses: readonly core.ContainerStatus[];
  /** No further container will be started, regardless of the restart policy. */
  readonly isTerminal: boolean;
  /** A regular container was created in the current sandbox. */
  readonly wasInitialized: boolean;
}

interface Counts {
  pendingInit: number;
  pendingSidecars: number;
  failedForGood: number;
  unknown: number;
  running: number;
  waiting: number;
  stopped: number;
  stoppedForGood: number;
  succeeded: number;
}

/** The phase derived from the container statuses, by upstream's rules. */
export function podPhase(facts: PhaseFacts): string {
  const counts = countStates(facts);
  if (counts.failedForGood > 0) return 'Failed';
  if (counts.pendingInit > 0 || (counts.pendingSidecars > 0 && !facts.wasInitialized) || counts.waiting > 0) return 'Pending';
  if (counts.running > 0 && counts.unknown === 0) return 'Running';
  if (counts.running === 0 && counts.stopped > 0 && counts.unknown === 0) return stoppedPhase(counts, facts.isTerminal);
  return 'Pending';
}

function stoppedPhase({ stopped, stoppedForGood, succeeded }: Counts, isTerminal: boolean): string {
  if (!isTerminal && stopped !== stoppedForGood) return 'Running';
  return stopped === succeeded ? 'Succeeded' : 'Failed';
}

function countStates({ pod, initStatuses, statuses }: PhaseFacts): Counts {
  const counts: Counts = {
    ...{ pendingInit: 0, pendingSidecars: 0, failedForGood: 0, unknown: 0, running: 0 },
    ...{ waiting: 0, stopped: 0, stoppedForGood: 0, succeeded: 0 },
  };
  for (const container of pod.spec?.initContainers ?? []) {
    const status = itemNamed(initStatuses, container.name);
    if (isSidecar(container)) countSidecar(status, counts);
    else countInit(container, status, { pod, counts });
  }
  for (const container of pod.spec?.containers ?? []) {
    const status = itemNamed(statuses, container.name);
    countRegular(container, status, { pod, counts });
  }
  return counts;
}

interface PodCounts {
  readonly pod: core.Pod;
  readonly counts: Counts;
}

function runsAgain(container: core.Container, pod: core.Pod, { exitCode, reason }: core.ContainerStateTerminated): boolean {
  return reason === RESTARTING_REASON || shouldRestart(container, pod, exitCode);
}

function countInit(container: core.Container, status: core.ContainerStatus | undefined, { pod, counts }: PodCounts): void {
  const ended = status?.state?.terminated ?? (status?.state?.waiting ? status.lastState?.terminated : undefined);
  if (ended === undefined) counts.pendingInit++;
  else if (ended.exitCode !== 0) {
    if (runsAgain(container, pod, ended)) counts.pendingInit++;
    else counts.failedForGood++;
  }
}

function countSidecar(status: core.ContainerStatus | undefined, counts: Counts): void {
  if (status?.state?.running) {
    if (status.started !== true) counts.pendingSidecars++;
    counts.running++;
  } else if (status?.state?.waiting && !status.lastState?.terminated) {
    counts.pendingSidecars++;
    counts.waiting++;
  } else if (!status?.state?.terminated && !status?.state?.waiting) counts.unknown++;
}

function countRegular(container: core.Container, status: core.ContainerStatus | undefined, { pod, counts }: PodCounts): void {
  const { state, lastState } = status ?? {};
  const ended = state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined);
  if (state?.running) counts.running++;
  else if (ended !== undefined) {
    counts.stopped++;
    if (!runsAgain(container, pod, ended)) counts.stoppedForGood++;
    if (state?.terminated && ended.exitCode === 0) counts.succeeded++;
  } else if (state?.waiting) counts.waiting++;
  else counts.unknown++;
}
