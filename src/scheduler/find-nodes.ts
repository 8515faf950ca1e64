import type { CycleState } from './framework/cycle-state.ts';
import type { Diagnosis } from './framework/diagnosis.ts';
import type { FilterResultCache, SearchBuffers } from './framework/filter-result-cache.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { Nominations } from './framework/nominations.ts';
import type { Plugin } from './framework/plugin.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { ActivePlugins } from './framework/profile.ts';
import { isRejected, type Status } from './framework/status.ts';

export interface NodeSearch {
  /** All nodes of the snapshot. */
  readonly nodes: readonly NodeInfo[];
  readonly versions: Uint32Array;
  /** The indexes of the nodes to evaluate; undefined: all. */
  readonly candidates: readonly number[] | undefined;
  /** The start index among those. */
  readonly start: number;
  /** The number of feasible nodes at which the search stops. */
  readonly enough: number;
  readonly filters: ActivePlugins<Plugin>;
  readonly filterResults: FilterResultCache | undefined;
  readonly buffers: SearchBuffers;
  readonly nominations: Nominations;
  /** Runs all filters, counting pods nominated to the node. */
  fitsWithNominated(node: NodeInfo): Status | undefined;
  readonly diagnosis: Diagnosis;
}

/**
 * Writes the indexes of feasible nodes into the search buffers; returns their number, or why there are none. Most of the scheduling time
 * is spent here: nothing is allocated per node.
 */
export function findNodes(state: CycleState, pod: PodInfo, search: NodeSearch): number | Status {
  const { nodes, versions, candidates, enough, filterResults, nominations, diagnosis } = search;
  const { local, others } = search.filters;
  const areNominated = !nominations.isEmpty;
  const count = candidates?.length ?? nodes.length;
  const { places } = search.buffers;
  let feasible = 0;
  for (let i = 0, at = search.start % count || 0; i < count && feasible < enough; i++, at = at + 1 === count ? 0 : at + 1) {
    const place = candidates === undefined ? at : (candidates[at] as number);
    let status: Status | undefined;
    if (areNominated && nominations.has((nodes[place] as NodeInfo).name)) status = search.fitsWithNominated(nodes[place] as NodeInfo);
    else {
      if (filterResults !== undefined && filterResults.filteredAt[place] === versions[place]) status = filterResults.obstacles[place];
      else {
        status = firstRejection(local, state, { pod, node: nodes[place] as NodeInfo });
        if (filterResults !== undefined) {
          filterResults.filteredAt[place] = versions[place] as number;
          filterResults.obstacles[place] = status;
        }
      }
      if (status === undefined && others.length > 0) status = firstRejection(others, state, { pod, node: nodes[place] as NodeInfo });
    }
    if (status === undefined) places[feasible++] = place;
    else if (isRejected(status)) diagnosis.setStatus(nodes[place] as NodeInfo, status);
    else return status;
  }
  return feasible;
}

function firstRejection(
  filters: readonly Plugin[],
  state: CycleState,
  { pod, node }: { pod: PodInfo; node: NodeInfo },
): Status | undefined {
  for (let i = 0; i < filters.length; i++) {
    const status = (filters[i] as Plugin).filter!(state, pod, node);
    if (status !== undefined) return status;
  }
  return undefined;
}
