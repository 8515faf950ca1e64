import type { Random } from '#base';
import { CycleState } from './framework/cycle-state.ts';
import { Diagnosis } from './framework/diagnosis.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { Nominations } from './framework/nominations.ts';
import type { Plugin, PostFilterResult } from './framework/plugin.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Profile } from './framework/profile.ts';
import type { Snapshot } from './framework/snapshot.ts';
import { isRejected, messageOf, type Status, unresolvable } from './framework/status.ts';

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
  const { nodes, diagnosis } = found;
  if (nodes.length === 0) return explainFailure(state, pod, { context, diagnosis });
  const evaluated = nodes.length + diagnosis.rejections;
  const node = nodes.length === 1 ? (nodes[0] as NodeInfo) : best(state, pod, { context, nodes });
  return { type: 'placed', node, state, evaluated, feasible: nodes.length };
}

interface Feasible {
  readonly nodes: readonly NodeInfo[];
  readonly diagnosis: Diagnosis;
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
    return { nodes: [], diagnosis };
  }
  const nominated = nominatedNode(state, pod, context);
  if (nominated !== undefined) return { nodes: [nominated], diagnosis };
  const nodes = nodeNames === undefined ? snapshot.nodes : [...nodeNames].flatMap((name) => snapshot.node(name) ?? []);
  if (nodeNames !== undefined) {
    diagnosis.absentNodes = unresolvable('', `node(s) didn't satisfy plugin(s) [${[...narrowedBy].sort().join(' ')}]`);
  }
  return filterNodes(state, pod, { context, nodes, diagnosis });
}

/** Room was made there: when the pod fits by now, no other node need be looked at. */
function nominatedNode(state: CycleState, pod: PodInfo, context: SchedulingContext): NodeInfo | undefined {
  const name = pod.pod.status?.nominatedNodeName ?? '';
  const node = name === '' ? undefined : context.snapshot.node(name);
  return node !== undefined && fitsWithNominated(state, pod, { context, node }) === undefined ? node : undefined;
}

interface Filtering extends Feasible {
  readonly context: SchedulingContext;
}

function filterNodes(state: CycleState, pod: PodInfo, { context, nodes, diagnosis }: Filtering): Feasible | { readonly message: string } {
  const enough = nodesToFind(nodes.length, context);
  const filters = context.profile.activeFilters(state);
  const hasNominations = !context.nominations.isEmpty;
  const feasible: NodeInfo[] = [];
  const count = nodes.length;
  for (let i = 0, at = context.startIndex % count || 0; i < count && feasible.length < enough; i++, at = at + 1 === count ? 0 : at + 1) {
    const node = nodes[at] as NodeInfo;
    const status = hasNominations ? fitsWithNominated(state, pod, { context, node }) : firstObstacle(filters, state, { pod, node });
    if (status === undefined) feasible.push(node);
    else if (isRejected(status)) diagnosis.setStatus(node.name, status);
    else return { message: `running filter plugin "${status.plugin}": ${messageOf(status)}` };
  }
  return { nodes: feasible, diagnosis };
}

function firstObstacle(filters: readonly Plugin[], state: CycleState, { pod, node }: { pod: PodInfo; node: NodeInfo }): Status | undefined {
  for (let i = 0; i < filters.length; i++) {
    const status = (filters[i] as Plugin).filter!(state, pod, node);
    if (status !== undefined) return status;
  }
  return undefined;
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

interface Choice {
  readonly context: SchedulingContext;
  readonly nodes: readonly NodeInfo[];
}

/** The node with the highest weighted sum of scores; among equals, any. */
function best(state: CycleState, pod: PodInfo, { context, nodes }: Choice): NodeInfo {
  const { profile, snapshot, random } = context;
  for (const plugin of profile.plugins.preScore) {
    if (plugin.preScore?.(state, pod, { snapshot, nodes })?.code === 'Skip') state.skipScore.add(plugin.name);
  }
  const totals = new Float64Array(nodes.length);
  const scores = new Array<number>(nodes.length).fill(0);
  for (const { plugin, weight } of profile.plugins.score) {
    if (state.skipScore.has(plugin.name)) continue;
    for (let i = 0; i < nodes.length; i++) scores[i] = plugin.score!(state, pod, nodes[i] as NodeInfo);
    plugin.normalizeScores?.(state, scores, nodes);
    for (let i = 0; i < nodes.length; i++) totals[i] = (totals[i] as number) + (scores[i] as number) * weight;
  }
  return nodes[greatest(totals, random)] as NodeInfo;
}

function greatest(totals: Float64Array, random: Random): number {
  let most = -Infinity;
  let ties: number[] = [];
  for (let i = 0; i < totals.length; i++) {
    const total = totals[i] as number;
    if (total < most) continue;
    if (total > most) {
      most = total;
      ties = [];
    }
    ties.push(i);
  }
  return ties.length === 1 ? (ties[0] as number) : (ties[random.int(ties.length)] as number);
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
