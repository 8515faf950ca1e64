import type { Random } from '#base';
import { findNodes } from './find-nodes.ts';
import { CycleState } from './framework/cycle-state.ts';
import { Diagnosis } from './framework/diagnosis.ts';
import type { NodeInfo } from './framework/node-info.ts';
import { type NodeVerdicts, SearchRoom, type VerdictStore } from './framework/node-verdicts.ts';
import type { Nominations } from './framework/nominations.ts';
import type { PostFilterResult } from './framework/plugin.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Profile } from './framework/profile.ts';
import type { Snapshot } from './framework/snapshot.ts';
import { isRejected, messageOf, type Status, unresolvable } from './framework/status.ts';
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
  /** Where to begin among the nodes, so that in time all get their turn. */
  readonly startIndex: number;
  /** What is known of nodes from pods that came before; without, every node is asked. The placements are the same. */
  readonly verdicts?: VerdictStore;
  /** 0: adapted to the size of the cluster. */
  readonly percentageOfNodesToScore: number;
}

export const NO_NODES_MESSAGE = 'no nodes available to schedule pods';
const MIN_NODES_TO_FIND = 100;
const MIN_PERCENTAGE = 5;

/** Finds the node for a pod: a function of the snapshot, the pod and chance. Nothing is changed. */
export function scheduleOne(pod: PodInfo, context: SchedulingContext): Placement {
  const { snapshot } = context;
  if (snapshot.nodes.length === 0) return { type: 'error', message: NO_NODES_MESSAGE };
  const state = new CycleState();
  const found = findFeasible(state, pod, context);
  if ('message' in found) return { type: 'error', message: found.message };
  const { count, first, diagnosis } = found;
  if (first === undefined) return explainFailure(state, pod, { context, diagnosis });
  const { room, verdicts } = found;
  const node = count === 1 || room === undefined ? first : pickNode(state, pod, { ...context, count, room, verdicts });
  return { type: 'placed', node, state, evaluated: count + diagnosis.rejections, feasible: count };
}

interface Feasible {
  readonly count: number;
  /** The first of them. */
  readonly first?: NodeInfo | undefined;
  readonly diagnosis: Diagnosis;
  readonly room?: SearchRoom;
  readonly verdicts?: NodeVerdicts | undefined;
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

/** Room was made there: when the pod fits by now, no other node need be looked at. */
function nominatedNode(state: CycleState, pod: PodInfo, context: SchedulingContext): NodeInfo | undefined {
  const name = pod.pod.status?.nominatedNodeName ?? '';
  const node = name === '' ? undefined : context.snapshot.node(name);
  return node !== undefined && fitsWithNominated(state, pod, { context, node }) === undefined ? node : undefined;
}

interface Filtering {
  readonly context: SchedulingContext;
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly diagnosis: Diagnosis;
}

function filterNodes(
  state: CycleState,
  pod: PodInfo,
  { context, nodeNames, diagnosis }: Filtering,
): Feasible | { readonly message: string } {
  const { nominations, profile, snapshot, startIndex } = context;
  const { nodes, nodeVersions: versions } = snapshot;
  const candidates = nodeNames && [...nodeNames].flatMap((name) => snapshot.node(name)?.place ?? []);
  const enough = nodesToFind(candidates?.length ?? nodes.length, context);
  const verdicts = context.verdicts?.for(profile.signature(pod), snapshot);
  const filters = profile.activeFilters(state);
  const fits = (node: NodeInfo) => fitsWithNominated(state, pod, { context, node });
  const room = context.verdicts?.room(nodes.length) ?? new SearchRoom(nodes.length);
  const search = { nodes, versions, candidates, start: startIndex, enough, filters, verdicts, room, nominations, diagnosis };
  const count = findNodes(state, pod, { ...search, fitsWithNominated: fits });
  if (typeof count !== 'number') return { message: `running "${count.plugin}" filter plugin: ${messageOf(count)}` };
  return { count, first: count > 0 ? nodes[room.places[0] as number] : undefined, diagnosis, room, verdicts };
}

/**
 * The pod must fit when those of no lower priority that are nominated to the node are there, and also while they are not: they may never come.
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

/** All of a small cluster; of a large one a share that shrinks with its size, and never fewer than 100. */
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
    });
    if (preemption.status !== undefined) diagnosis.postFilterMessage = messageOf(preemption.status);
  }
  return { type: 'unschedulable', message: diagnosis.message(), diagnosis, preemption };
}
