import { core } from '#api';
import { isSidecar } from '../pods/pod-state.ts';

const LOST = {
  terminated: {
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    exitCode: 137,
  },
};

/** The status of a terminated pod: containers of unknown state count as failed, and the phase is final. */
export function terminatedStatus(status: core.PodStatus, pod: core.Pod): core.PodStatus {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  const regular = hasInitialized(pod) ? containerStatuses.map(ended) : containerStatuses;
  const startedCount = begunCount(initContainerStatuses);
  const sidecars = new Set((pod.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const init = initContainerStatuses.map((status, index) =>
    index < startedCount && !(sidecars.has(status.name) && status.lastState?.terminated) ? ended(status) : status,
  );
  return {
    ...status,
    phase: core.isTerminalPhase(status.phase) ? (status.phase as string) : 'Failed',
    containerStatuses: regular,
    ...(init.length > 0 && { initContainerStatuses: init }),
  };
}

function ended(status: core.ContainerStatus): core.ContainerStatus {
  return status.state?.terminated ? status : { ...status, state: LOST };
}

/** By the API's status: any container ran, or the last init container has completed. */
function hasInitialized({ spec, status }: core.Pod): boolean {
  const specs = spec?.initContainers ?? [];
  if (specs.length === 0) return true;
  const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  if (containerStatuses.some(({ lastState, state }) => lastState?.terminated || (state !== undefined && !state.waiting))) return true;
  const last = initContainerStatuses.at(-1);
  const container = specs.find(({ name }) => name === last?.name);
  if (last === undefined || container === undefined) return false;
  if (isSidecar(container)) return last.state?.running !== undefined && last.started === true;
  return last.state?.terminated?.exitCode === 0 || last.lastState?.terminated?.exitCode === 0;
}

/** The number of init containers, from the first, that have started; at least one. */
function begunCount(statuses: readonly core.ContainerStatus[]): number {
  const last = statuses.findLastIndex(({ state, lastState }) => !state?.waiting || lastState?.terminated);
  return Math.max(last + 1, Math.min(1, statuses.length));
}
