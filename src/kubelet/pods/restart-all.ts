import type { core } from '#api';
import { itemNamed, itemsNamed } from '#base';
import { findCondition } from '#machinery';
import { latestContainer, matchingRestartRule, type PodContainer, type PodState } from './pod-state.ts';

export const RESTARTING_ALL = 'AllContainersRestarting';
/** The status reason of containers removed by RestartAllContainers. */
export const RESTARTING_REASON = 'RestartingAllContainers';

/** The containers that RestartAllContainers affects: all but ephemeral ones. */
function restartable({ spec }: core.Pod): readonly core.Container[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
}

function triggers(container: core.Container, exitCode: number): boolean {
  return matchingRestartRule(container, exitCode)?.action === 'RestartAllContainers';
}

/** Whether the pod has a RestartAllContainers rule. */
export function canRestartAll(pod: core.Pod): boolean {
  return restartable(pod).some(({ restartPolicyRules = [] }) => restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'));
}

/** Whether all containers are to be restarted: a rule matched, or the restart was already in progress. */
export function isRestartingAll(pod: core.Pod, state: PodState, reported: core.PodStatus): boolean {
  if (!canRestartAll(pod)) return false;
  if (findCondition(reported.conditions, RESTARTING_ALL)?.status === 'True') return true;
  const statuses = [...(reported.containerStatuses ?? []), ...(reported.initContainerStatuses ?? [])];
  return restartable(pod).some((container) => {
    const last = latestContainer(state, container.name);
    if (last?.state !== 'exited') return false;
    const terminated = itemNamed(statuses, container.name)?.state?.terminated;
    return triggers(container, last.exitCode ?? 0) || (terminated !== undefined && triggers(container, terminated.exitCode));
  });
}

/** Whether all of them are gone from the runtime. */
export function areAllRemoved(pod: core.Pod, state: PodState): boolean {
  return restartable(pod).every(({ name }) => latestContainer(state, name) === undefined);
}

/** In removal order, as upstream: the container that triggered it last, so that a restarted kubelet continues. */
export function containersToReset(pod: core.Pod, state: PodState): readonly PodContainer[] {
  const specs = restartable(pod);
  const isCause = ({ name, state: is, exitCode = 0 }: PodContainer) => {
    const container = itemNamed(specs, name);
    return is === 'exited' && container !== undefined && triggers(container, exitCode);
  };
  const all = specs.flatMap(({ name }) => itemsNamed(state.containers, name));
  return [...all.filter((container) => !isCause(container)), ...all.filter(isCause)];
}
