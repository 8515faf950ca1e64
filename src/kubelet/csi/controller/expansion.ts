import type { core } from '#api';
import { Quantity } from '#machinery';

export const NODE_STATES: readonly (string | undefined)[] = ['NodeResizePending', 'NodeResizeInProgress'];

export interface ExpansionState {
  readonly claim: core.PersistentVolumeClaim;
  readonly volume: core.PersistentVolume;
  /** The last call is certain to have failed: nothing is under way. */
  readonly hasFinalError: boolean;
  /** The driver enlarges volumes by its controller, not on nodes alone. */
  readonly byController: boolean;
}

export interface Expansion {
  readonly size: string;
  /** The size is that of the last attempt. */
  readonly isRetry: boolean;
}

/** A bound claim that requests more than it has. */
export function needsExpansion({ spec, status }: core.PersistentVolumeClaim): boolean {
  return status?.phase === 'Bound' && compare(spec?.resources?.requests?.storage, status.capacity?.storage) > 0;
}

/**
 * The size to request from the driver, by external-resizer's rules; undefined: it is the node's turn. After a failure a claim may request
 * less again, but an attempt with an uncertain outcome is repeated, and an expansion that the node has started is finished first.
 */
export function nextExpansion(state: ExpansionState): Expansion | undefined {
  const { allocatedResources, allocatedResourceStatuses } = state.claim.status ?? {};
  const allocated = allocatedResources?.storage;
  const progress = allocatedResourceStatuses?.storage;
  const size = compare(volumeSize(state), requestedSize(state)) < 0 ? sizeOfSmaller(state, progress) : sizeOfExpanded(state, progress);
  return size === undefined ? undefined : { size, isRetry: allocated !== undefined && compare(allocated, size) === 0 };
}

/** The volume has less than the claim requests. */
function sizeOfSmaller(state: ExpansionState, progress: string | undefined): string | undefined {
  const requested = requestedSize(state);
  const begun = state.claim.status?.allocatedResources?.storage ?? requested;
  if (progress === 'NodeResizeInfeasible') return begun;
  if (progress === 'ControllerResizeInProgress') return state.hasFinalError ? requested : begun;
  if (!NODE_STATES.includes(progress)) return requested;
  return compare(volumeSize(state), begun) >= 0 ? undefined : begun;
}

/** The volume has the requested size: the claim's status is outdated, or the request was reduced, or the node failed. */
function sizeOfExpanded(state: ExpansionState, progress: string | undefined): string | undefined {
  if (NODE_STATES.includes(progress)) return undefined;
  const { conditions = [], allocatedResources } = state.claim.status ?? {};
  const begun = allocatedResources?.storage;
  if (progress === 'NodeResizeInfeasible') return state.byController ? (begun ?? requestedSize(state)) : requestedSize(state);
  // Older resizers only set a condition.
  const isPending = conditions.some(({ type, status }) => type === 'FileSystemResizePending' && status === 'True');
  if (progress === undefined && begun === undefined && isPending) return undefined;
  return begun ?? requestedSize(state);
}

function requestedSize({ claim }: ExpansionState): string {
  return claim.spec?.resources?.requests?.storage ?? '0';
}

function volumeSize({ volume }: ExpansionState): string {
  return volume.spec?.capacity?.storage ?? '0';
}

function compare(a = '0', b = '0'): number {
  return Quantity.parse(a).compare(Quantity.parse(b));
}
