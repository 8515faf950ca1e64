import type { core } from '#api';

/** What the termination messages of one pod may take together, as upstream. */
const MAX_POD_BYTES = 12 * 1024;

/** The statuses with termination messages that fit into the pod's share for each of its containers. */
export function limitMessages(statuses: readonly core.ContainerStatus[], { spec }: core.Pod): core.ContainerStatus[] {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  const maxBytes = Math.floor(MAX_POD_BYTES / Math.max(1, containers.length + initContainers.length + ephemeralContainers.length));
  return statuses.map((status) => limitStatus(status, maxBytes));
}

function limitStatus(status: core.ContainerStatus, maxBytes: number): core.ContainerStatus {
  const { state, lastState } = status;
  return {
    ...status,
    ...(state?.terminated && { state: limitState(state, maxBytes) }),
    ...(lastState?.terminated && { lastState: limitState(lastState, maxBytes) }),
  };
}

function limitState(state: core.ContainerState, maxBytes: number): core.ContainerState {
  const { terminated } = state;
  if (!terminated?.message || Buffer.byteLength(terminated.message) <= maxBytes) return state;
  const message = Buffer.from(terminated.message).subarray(0, maxBytes).toString('utf8');
  return { ...state, terminated: { ...terminated, message } };
}
