import type { Random } from '#base';
import type { ExtenderResults } from './extenders/extenders.ts';
import { findNodes } from './find-nodes.ts';
import { CycleState } from './framework/cycle-state.ts';
import { Diagnosis } from './framework/diagnosis.ts';
import { type FilterResultCache, type FilterResultStore, SearchBuffers } from './framework/filter-result-cache.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { Nominations } from './framework/nominations.ts';
import type { PostFilterContext, PostFilterResult } from './framework/plugin.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Profile } from './framework/profile.ts';
import type { Snapshot } from './framework/snapshot.ts';
import { isRejected, messageOf, type Status, unresolvable, unschedulable } from './framework/status.ts';
import { pickNode } from './pick-node.ts';

export type Placement =
  | { readonly type: 'placed'; readonly node: NodeInfo; readonly state: CycleState; readonly evaluated: number; readonly feasible: number }
  | {
      readonly type: 'unschedulable';
      readonly message: string;
      readonly diagnosis: Diagnosis;
      readonly preemption: PostFilterResult | undefined;
    }
  | { readonly type: 'error'; readonly message: string };

export interface SchedulingContext {
  readonly profile: Profile;
  readonly snapshot: Snapshot;
  readonly nominations: Nominations;
  readonly random: Random;
  /** The start index among the nodes, which rotates so that all are considered over time. */
  readonly startIndex: number;
  /** Filter results of earlier identical pods; an optimization that never changes the placement. */
  readonly filterResults?: FilterResultStore;
  /** 0: adapted to the size of the cluster. */
  readonly percentageOfNodesToScore: number;
  /** The extenders' results. Absent: no extender applies. */
  readonly extenderResults?: ExtenderResults;
  /** Lets extenders choose among candidates for preemption. */
  readonly reviewCandidates?: PostFilterContext['reviewCandidates'];
}

export const NO_NODES_MESSAGE = 'no nodes available to schedule pods';
const MIN_NODES_TO_FIND = 100;
const MIN_PERCENTAGE = 5;

/** Finds the node for a pod: a function of the snapshot, the pod and randomness, without side effects. */
export function scheduleOne(pod: PodInfo, context: SchedulingContext): Placement {
  const { snapshot } = context;
  if (snapshot.nodes.length === 0) return { type: 'error', message: NO_NODES_MESSAGE };
  const state = new CycleState();
  const feasible = findFeasible(state, pod, context);
  if ('message' in feasible) return { type: 'error', message: feasible.message };
  const { count, first, diagnosis } = feasible;
  if (first === undefined) return explainFailure(state, pod, { context, diagnosis });
  const { buffers, filterResults } = feasible;
  const node = count === 1 || buffers === undefined ? first : pickNode(state, pod, { ...context, count, buffers, filterResults });
  return { type: 'placed', node, state, evaluated: count + diagnosis.rejections, feasible: count };
}

/** The nodes that pass all filters, for extenders; none on an error. */
export function feasibleNodes(pod: PodInfo, context: SchedulingContext): readonly NodeInfo[] {
  const feasible = findFeasible(new CycleState(), pod, context);
  if ('message' in feasible || feasible.first === undefined) return [];
  const { count, first, buffers } = feasible;
  if (buffers === undefined) return [first];
  return Array.from({ length: count }, (_, i) => context.snapshot.nodes[buffers.places[i] as number] as NodeInfo);
}

interface Feasible {
  readonly count: number;
  /** The first of them. */
  readonly first?: NodeInfo | undefined;
  readonly diagnosis: Diagnosis;
  readonly buffers?: SearchBuffers;
  readonly filterResults?: FilterResultCache | undefined;
}

function findFeasible(state: CycleState, pod: PodInfo, context: SchedulingContext): Feasible | { readonly message: string } {
  const { profile, snapshot } = context;
  const diagnosis = new Diagnosis(snapshot.nodes.length);
  const { status, nodeNames, narrowedBy } = profile.preFilter(state, pod, snapshot);
  for (const plugin of narrowedBy) diagnosis.blame(unresolvable(plugin));
  if (status !== undefined) {
    if (!isRejected(status)) return { message: `running PreFilter plugin "${status.plugin}": ${messageOf(status)}` };
    diagnosis.absentNodes = status;
    diagnosis.preFilterMessage = messageOf(status);
    diagnosis.blame(status);
    return { count: 0, diagnosis };
  }
  const nominated = nominatedNode(state, pod, context);
  if (nominated !== undefined) return { count: 1, first: nominated, diagnosis };
  if (nodeNames !== undefined) {
    diagnosis.absentNodes = unresolvable('', `node(s) didn't satisfy plugin(s) [${[...narrowedBy].sort().join(' ')}]`);
  }
  return filterNodes(state, pod, { context, nodeNames, diagnosis });
}

/** The nominated node is tried first; if the pod fits there, no other node is evaluated. */
function nominatedNode(state: CycleState, pod: PodInfo, context: SchedulingContext): NodeInfo | undefined {
  const name = pod.pod.status?.nominatedNodeName ?? '';
  const node = name === '' || context.extenderResults?.accepted.has(name) === false ? undefined : context.snapshot.node(name);
  return node !== undefined && fitsWithNominated(state, pod, { context, node }) === undefined ? node : undefined;
}

interface FilterContext {
  readonly context: SchedulingContext;
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly diagnosis: Diagnosis;
}

function filterNodes(
  state: CycleState,
  pod: PodInfo,
  { context, nodeNames, diagnosis }: FilterContext,
): Feasible | { readonly message: string } {
  const { nominations, profile, snapshot, startIndex } = context;
  const { nodes, nodeVersions: versions } = snapshot;
  const candidates = nodeNames && [...nodeNames].flatMap((name) => snapshot.node(name)?.place ?? []);
  const enough = nodesToFind(candidates?.length ?? nodes.length, context);
  const filterResults = context.filterResults?.for(profile.signature(pod), snapshot);
  const filters = profile.activeFilters(state);
  const fits = (node: NodeInfo) => fitsWithNominated(state, pod, { context, node });
  const buffers = context.filterResults?.buffersFor(nodes.length) ?? new SearchBuffers(nodes.length);
  const search = { nodes, versions, candidates, start: startIndex, enough, filters, filterResults, buffers, nominations, diagnosis };
  const passing = findNodes(state, pod, { ...search, fitsWithNominated: fits });
  if (typeof passing !== 'number') return { message: `running "${passing.plugin}" filter plugin: ${messageOf(passing)}` };
  const count =
    context.extenderResults === undefined
      ? passing
      : keepAccepted(passing, { extenderResults: context.extenderResults, nodes, buffers, diagnosis });
  return { count, first: count > 0 ? nodes[buffers.places[0] as number] : undefined, diagnosis, buffers, filterResults };
}

interface AcceptedSearch {
  readonly extenderResults: ExtenderResults;
  readonly nodes: readonly NodeInfo[];
  readonly buffers: SearchBuffers;
  readonly diagnosis: Diagnosis;
}

/** Keeps only nodes that extenders accepted. Nodes added since then wait for the next attempt. */
function keepAccepted(count: number, { extenderResults, nodes, buffers, diagnosis }: AcceptedSearch): number {
  const { places } = buffers;
  let accepted = 0;
  for (let i = 0; i < count; i++) {
    const place = places[i] as number;
    const node = nodes[place] as NodeInfo;
    if (extenderResults.accepted.has(node.name)) places[accepted++] = place;
    else diagnosis.setStatus(node, extenderResults.rejections.get(node.name) ?? EXTENDER_SKIPPED);
  }
  return accepted;
}

const EXTENDER_SKIPPED = unschedulable('Extender');

/**
 * The pod must fit with and without the pods of equal or higher priority that are nominated to the node: they may never arrive.
 */
function fitsWithNominated(
  state: CycleState,
  pod: PodInfo,
  { context, node }: { context: SchedulingContext; node: NodeInfo },
): Status | undefined {
  const { profile, nominations } = context;
  const awaited = [...nominations.on(node.name)].filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority);
  if (awaited.length > 0) {
    const trialState = state.clone();
    const trialNode = node.clone();
    for (const other of awaited) {
      trialNode.addPod(other);
      profile.addPod(trialState, pod, { pod: other, node: trialNode });
    }
    const status = profile.filter(trialState, pod, trialNode);
    if (status !== undefined) return status;
  }
  return profile.filter(state, pod, node);
}

/** All nodes of a small cluster; of a large one a percentage that decreases with its size, and at least 100. */
export function nodesToFind(
  nodes: number,
  { profile, percentageOfNodesToScore }: Pick<SchedulingContext, 'profile' | 'percentageOfNodesToScore'>,
): number {
  if (nodes < MIN_NODES_TO_FIND) return nodes;
  const configured = profile.percentageOfNodesToScore ?? percentageOfNodesToScore;
  const percentage = configured || Math.max(50 - Math.trunc(nodes / 125), MIN_PERCENTAGE);
  return Math.max(Math.trunc((nodes * percentage) / 100), MIN_NODES_TO_FIND);
}

interface Failure {
  readonly context: SchedulingContext;
  readonly diagnosis: Diagnosis;
}

function explainFailure(state: CycleState, pod: PodInfo, { context, diagnosis }: Failure): Placement {
  const { profile, snapshot } = context;
  let preemption: PostFilterResult | undefined;
  if (profile.plugins.postFilter.length > 0) {
    preemption = profile.postFilter(state, pod, {
      snapshot,
      diagnosis,
      fits: (trial, node) => fitsWithNominated(trial, pod, { context, node }),
      addPod: (trial, change) => profile.addPod(trial, pod, change),
      removePod: (trial, change) => profile.removePod(trial, pod, change),
      ...(context.reviewCandidates && { reviewCandidates: context.reviewCandidates }),
    });
    if (preemption.status !== undefined) diagnosis.postFilterMessage = messageOf(preemption.status);
  }
  return { type: 'unschedulable', message: diagnosis.message(), diagnosis, preemption };
}
