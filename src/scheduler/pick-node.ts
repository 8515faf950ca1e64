import type { Random } from '#base';
import type { ExtenderResults } from './extenders/extenders.ts';
import type { CycleState } from './framework/cycle-state.ts';
import type { FilterResultCache, SearchBuffers } from './framework/filter-result-cache.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { PreScoreContext } from './framework/plugin.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Profile, ScoringPlugin } from './framework/profile.ts';
import type { Snapshot } from './framework/snapshot.ts';

export interface NodeChoice {
  readonly profile: Profile;
  readonly snapshot: Snapshot;
  readonly random: Random;
  /** How many nodes passed all filters; the search buffers hold their indexes. */
  readonly count: number;
  readonly buffers: SearchBuffers;
  readonly filterResults: FilterResultCache | undefined;
  readonly extenderResults?: ExtenderResults;
}

/** The node with the highest weighted sum of scores; among equals, any. */
export function pickNode(state: CycleState, pod: PodInfo, choice: NodeChoice): NodeInfo {
  const { profile, snapshot, random, count, buffers } = choice;
  const context = new FeasibleNodes(snapshot, buffers.places, count);
  for (const plugin of profile.plugins.preScore) {
    if (plugin.preScore?.(state, pod, context)?.code === 'Skip') state.skipScore.add(plugin.name);
  }
  const { local, others } = profile.activeScores(state);
  addLocalScores(state, pod, { choice, local });
  if (others.length > 0) addScores(state, pod, { totals: buffers.totals, nodes: context.nodes, others });
  if (choice.extenderResults !== undefined) addExtenderScores(buffers.totals, context.nodes, choice.extenderResults);
  return snapshot.nodes[buffers.places[indexOfGreatest(buffers.totals, count, random)] as number] as NodeInfo;
}

/** Lazy, since the nodes are rarely needed. */
class FeasibleNodes implements PreScoreContext {
  #nodes: readonly NodeInfo[] | undefined;

  constructor(
    readonly snapshot: Snapshot,
    private readonly places: Int32Array,
    private readonly count: number,
  ) {}

  get nodes(): readonly NodeInfo[] {
    this.#nodes ??= this.#collect();
    return this.#nodes;
  }

  #collect(): readonly NodeInfo[] {
    const { nodes } = this.snapshot;
    const feasible: NodeInfo[] = [];
    for (let i = 0; i < this.count; i++) feasible.push(nodes[this.places[i] as number] as NodeInfo);
    return feasible;
  }
}

/** Initialises the totals with the local plugins' scores, which are cached for unchanged nodes. */
function addLocalScores(state: CycleState, pod: PodInfo, { choice, local }: { choice: NodeChoice; local: readonly ScoringPlugin[] }): void {
  const { count, buffers, filterResults, snapshot } = choice;
  const { nodes, nodeVersions } = snapshot;
  const { places, totals } = buffers;
  for (let i = 0; i < count; i++) {
    const place = places[i] as number;
    if (filterResults !== undefined && filterResults.scoredAt[place] === nodeVersions[place]) {
      totals[i] = filterResults.scores[place] as number;
      continue;
    }
    const sum = weightedSum(local, state, { pod, node: nodes[place] as NodeInfo });
    totals[i] = sum;
    if (filterResults === undefined) continue;
    filterResults.scoredAt[place] = nodeVersions[place] as number;
    filterResults.scores[place] = sum;
  }
}

function weightedSum(scoring: readonly ScoringPlugin[], state: CycleState, { pod, node }: { pod: PodInfo; node: NodeInfo }): number {
  let sum = 0;
  for (const { plugin, weight } of scoring) sum += plugin.score!(state, pod, node) * weight;
  return sum;
}

interface ScoreContext {
  readonly totals: Float64Array;
  readonly nodes: readonly NodeInfo[];
  readonly others: readonly ScoringPlugin[];
}

function addScores(state: CycleState, pod: PodInfo, { totals, nodes, others }: ScoreContext): void {
  const scores = new Float64Array(nodes.length);
  for (const { plugin, weight } of others) {
    for (let i = 0; i < nodes.length; i++) scores[i] = plugin.score!(state, pod, nodes[i] as NodeInfo);
    plugin.normalizeScores?.(state, scores, nodes);
    for (let i = 0; i < nodes.length; i++) totals[i] = (totals[i] as number) + (scores[i] as number) * weight;
  }
}

function addExtenderScores(totals: Float64Array, nodes: readonly NodeInfo[], { scores }: ExtenderResults): void {
  nodes.forEach(({ name }, i) => {
    totals[i] = (totals[i] as number) + (scores.get(name) ?? 0);
  });
}

function indexOfGreatest(totals: Float64Array, count: number, random: Random): number {
  let most = -Infinity;
  let ties = 0;
  for (let i = 0; i < count; i++) {
    const total = totals[i] as number;
    if (total > most) {
      most = total;
      ties = 1;
    } else if (total === most) ties++;
  }
  let skip = ties === 1 ? 0 : random.int(ties);
  for (let i = 0; ; i++) if (totals[i] === most && skip-- === 0) return i;
}
