import type { core } from '#api';
import type { Clock } from '#base';
import type { ProbeRequest, ProbeResult } from '../prober/prober.ts';
import type { ContainerType, KubeletMetrics, ProbeOutcome } from './kubelet-metrics.ts';

export interface PodMeasurementsDeps {
  readonly clock: Clock;
  readonly kubeletMetrics?: KubeletMetrics | undefined;
}

/** The metrics of one pod, from when the kubelet first sees it. */
export class PodMeasurements {
  /** By the monotonic clock. */
  readonly #seenAt: number;
  /** The API showed before that all containers have started, or this kubelet did not start them. */
  #isStartObserved: boolean;

  constructor(
    private readonly deps: PodMeasurementsDeps,
    private readonly pod: () => core.Pod,
  ) {
    this.#seenAt = deps.clock.monotonic();
    this.#isStartObserved = pod().status?.startTime !== undefined;
  }

  /** A state of the pod that the API has. */
  observe(pod: core.Pod): void {
    const { kubeletMetrics, clock } = this.deps;
    if (kubeletMetrics === undefined || this.#isStartObserved || !haveAllStarted(pod)) return;
    this.#isStartObserved = true;
    const createdMs = Date.parse(pod.metadata.creationTimestamp ?? '');
    kubeletMetrics.podObservedRunning(pod, { sinceCreationMs: clock.now() - createdMs, initMs: initDuration(pod) });
  }

  /** Counts the containers that have terminated since the status that was reported before. */
  report(before: core.PodStatus, after: core.PodStatus): void {
    const { kubeletMetrics } = this.deps;
    if (kubeletMetrics === undefined) return;
    for (const [type, field] of STATUS_FIELDS) {
      if (before[field] === after[field]) continue;
      const countedNames = new Set(terminatedOf(before[field]).map(({ name }) => name));
      for (const { name, state } of terminatedOf(after[field]))
        if (!countedNames.has(name) && state?.terminated) kubeletMetrics.containerTerminated(type, state.terminated);
    }
  }

  /** Measures one sync of the pod worker. `phase`: as reported. */
  async step(work: () => Promise<void>, view: { readonly isRemoved: boolean; phase(): string | undefined }): Promise<void> {
    const { kubeletMetrics, clock } = this.deps;
    if (kubeletMetrics === undefined) return work();
    const since = clock.monotonic();
    const operation = operationOf(this.pod(), view.isRemoved);
    const wasRunning = view.phase() === 'Running';
    await work();
    kubeletMetrics.podSynced(operation, clock.monotonic() - since);
    if (!wasRunning && view.phase() === 'Running') kubeletMetrics.podRuns(clock.monotonic() - this.#seenAt);
  }

  async probe(container: string, { type }: ProbeRequest, probe: () => Promise<ProbeResult>): Promise<ProbeResult> {
    const { kubeletMetrics, clock } = this.deps;
    if (kubeletMetrics === undefined) return probe();
    const since = clock.monotonic();
    const count = (result: ProbeOutcome['result']) =>
      kubeletMetrics.probed(this.pod(), { type, container, result, durationMs: clock.monotonic() - since });
    try {
      const answer = await probe();
      count(answer.passed ? 'successful' : 'failed');
      return answer;
    } catch (error) {
      count('unknown');
      throw error;
    }
  }

  forget(): void {
    this.deps.kubeletMetrics?.forget(this.pod());
  }
}

const STATUS_FIELDS: readonly (readonly [ContainerType, 'initContainerStatuses' | 'containerStatuses' | 'ephemeralContainerStatuses'])[] = [
  ['init_container', 'initContainerStatuses'],
  ['container', 'containerStatuses'],
  ['ephemeral_container', 'ephemeralContainerStatuses'],
];

function terminatedOf(statuses: readonly core.ContainerStatus[] = []): readonly core.ContainerStatus[] {
  return statuses.filter(({ state }) => state?.terminated !== undefined);
}

function haveAllStarted({ spec, status }: core.Pod): boolean {
  const statuses = status?.containerStatuses ?? [];
  const isStarted = ({ state }: core.ContainerStatus) => state?.running !== undefined || state?.terminated !== undefined;
  return statuses.length > 0 && statuses.length === spec?.containers.length && statuses.every(isStarted);
}

function initDuration({ status }: core.Pod): number {
  const durations = (status?.initContainerStatuses ?? []).map(({ state }) => {
    const { startedAt, finishedAt } = state?.terminated ?? {};
    return startedAt && finishedAt ? Date.parse(finishedAt) - Date.parse(startedAt) : 0;
  });
  return durations.reduce((sum, ms) => sum + ms, 0);
}

function operationOf({ metadata, status }: core.Pod, isRemoved: boolean): Parameters<KubeletMetrics['podSynced']>[0] {
  if (isRemoved) return 'terminated';
  if (metadata.deletionTimestamp !== undefined) return 'terminating';
  return status?.startTime === undefined ? 'create' : 'sync';
}
