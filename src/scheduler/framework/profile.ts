import { pushAll } from '#base';
import type { CycleState } from './cycle-state.ts';
import type { NodeInfo } from './node-info.ts';
import type { Plugin, PostFilterContext, PostFilterResult, TrialChange } from './plugin.ts';
import type { PodInfo } from './pod-info.ts';
import type { Snapshot } from './snapshot.ts';
import { isRejected, type Status, unresolvable, unschedulable } from './status.ts';

export interface ScoringPlugin {
  readonly plugin: Plugin;
  readonly weight: number;
}

/** The plugins of each extension point, in execution order. */
export interface ProfilePlugins {
  readonly preEnqueue: readonly Plugin[];
  readonly queueSort: Plugin;
  readonly preFilter: readonly Plugin[];
  readonly filter: readonly Plugin[];
  readonly postFilter: readonly Plugin[];
  readonly preScore: readonly Plugin[];
  readonly score: readonly ScoringPlugin[];
  readonly reserve: readonly Plugin[];
  readonly permit: readonly Plugin[];
  readonly preBind: readonly Plugin[];
  readonly bind: readonly Plugin[];
  readonly postBind: readonly Plugin[];
}

export interface PreFilterOutcome {
  readonly status: Status | undefined;
  readonly nodeNames: ReadonlySet<string> | undefined;
  /** PreFilter plugins that restricted the candidate nodes. */
  readonly narrowedBy: readonly string[];
}

/** The filters of one cycle: results of local filters hold until the node changes, other filters always run. */
export interface ActivePlugins<T> {
  readonly local: readonly T[];
  readonly others: readonly T[];
}

/** A scheduler profile: runs the plugins of each extension point. */
export class Profile {
  /** Filters run in order until one rejects: only leading filters can run separately. */
  readonly #localFilters: ReadonlySet<Plugin>;
  readonly #localScores: ReadonlySet<Plugin>;
  readonly #signers: readonly Plugin[];
  /** Of the latest pod. */
  readonly #fragments: { readonly value: unknown; readonly text: string }[] = [];

  constructor(
    readonly schedulerName: string,
    readonly plugins: ProfilePlugins,
    readonly percentageOfNodesToScore: number | undefined,
  ) {
    const firstOther = plugins.filter.findIndex(({ sign }) => sign === undefined);
    this.#localFilters = new Set(firstOther < 0 ? plugins.filter : plugins.filter.slice(0, firstOther));
    // A normalized score depends on other nodes.
    const own = plugins.score.filter(({ plugin }) => plugin.sign !== undefined && plugin.normalizeScores === undefined);
    this.#localScores = new Set(own.map(({ plugin }) => plugin));
    this.#signers = [...new Set([...this.#localFilters, ...this.#localScores])];
  }

  /** Equal for pods that all local plugins treat alike. */
  signature(pod: PodInfo): string {
    let signature = '';
    for (let i = 0; i < this.#signers.length; i++) signature += this.#fragment(i, (this.#signers[i] as Plugin).sign!(pod));
    return signature;
  }

  /** Pods of one template often share the signed values, so that the signature can be reused. */
  #fragment(signer: number, value: unknown): string {
    const latest = this.#fragments[signer];
    if (latest !== undefined && latest.value === value) return latest.text;
    const text = `${JSON.stringify(value)}\n`;
    this.#fragments[signer] = { value, text };
    return text;
  }

  preEnqueue(pod: PodInfo): Status | undefined {
    for (const plugin of this.plugins.preEnqueue) {
      const status = plugin.preEnqueue?.(pod);
      if (status !== undefined) return status;
    }
    return undefined;
  }

  preFilter(state: CycleState, pod: PodInfo, snapshot: Snapshot): PreFilterOutcome {
    let nodeNames: ReadonlySet<string> | undefined;
    let rejection: Status | undefined;
    const narrowedBy: string[] = [];
    for (const plugin of this.plugins.preFilter) {
      const result = plugin.preFilter?.(state, pod, snapshot);
      const status = result?.status;
      if (status?.code === 'Skip') state.skipFilter.add(plugin.name);
      else if (status?.code === 'Unschedulable') rejection = status;
      else if (status !== undefined) return { status, nodeNames, narrowedBy };
      if (result?.nodeNames === undefined) continue;
      narrowedBy.push(plugin.name);
      nodeNames = intersection(nodeNames, result.nodeNames);
      if (nodeNames.size === 0) return { status: noNodesLeft(narrowedBy), nodeNames, narrowedBy };
    }
    return { status: rejection, nodeNames, narrowedBy };
  }

  /** Filters not skipped for the pod. */
  activeFilters({ skipFilter }: CycleState): ActivePlugins<Plugin> {
    const local: Plugin[] = [];
    const others: Plugin[] = [];
    for (const plugin of this.plugins.filter) {
      if (!skipFilter.has(plugin.name)) (this.#localFilters.has(plugin) ? local : others).push(plugin);
    }
    return { local, others };
  }

  activeScores({ skipScore }: CycleState): ActivePlugins<ScoringPlugin> {
    const local: ScoringPlugin[] = [];
    const others: ScoringPlugin[] = [];
    for (const scoring of this.plugins.score) {
      const { plugin } = scoring;
      if (!skipScore.has(plugin.name)) (this.#localScores.has(plugin) ? local : others).push(scoring);
    }
    return { local, others };
  }

  filter(state: CycleState, pod: PodInfo, node: NodeInfo): Status | undefined {
    for (const plugin of this.plugins.filter) {
      if (state.skipFilter.has(plugin.name)) continue;
      const status = plugin.filter?.(state, pod, node);
      if (status !== undefined) return status;
    }
    return undefined;
  }

  addPod(state: CycleState, pod: PodInfo, change: TrialChange): void {
    for (const plugin of this.plugins.preFilter) if (!state.skipFilter.has(plugin.name)) plugin.addPod?.(state, pod, change);
  }

  removePod(state: CycleState, pod: PodInfo, change: TrialChange): void {
    for (const plugin of this.plugins.preFilter) if (!state.skipFilter.has(plugin.name)) plugin.removePod?.(state, pod, change);
  }

  postFilter(state: CycleState, pod: PodInfo, context: PostFilterContext): PostFilterResult {
    let nomination: PostFilterResult | undefined;
    let cleanUp: PostFilterResult['cleanUp'];
    let rejector = '';
    const reasons: string[] = [];
    for (const plugin of this.plugins.postFilter) {
      const result = plugin.postFilter?.(state, pod, context);
      if (result === undefined) continue;
      const { status } = result;
      if (status === undefined || status.code === 'UnschedulableAndUnresolvable' || !isRejected(status))
        return { ...result, ...(cleanUp && { cleanUp }) };
      if (result.nominatedNode !== undefined) nomination = result;
      cleanUp ??= result.cleanUp;
      pushAll(reasons, status.reasons);
      rejector ||= plugin.name;
    }
    return { ...nomination, ...(cleanUp && { cleanUp }), status: { ...unschedulable(rejector), reasons } };
  }

  reserve(state: CycleState, pod: PodInfo, node: NodeInfo): Status | undefined {
    for (const plugin of this.plugins.reserve) {
      const status = plugin.reserve?.(state, pod, node);
      if (status !== undefined) return status;
    }
    return undefined;
  }

  unreserve(state: CycleState, pod: PodInfo, node: NodeInfo): void {
    for (const plugin of this.plugins.reserve.toReversed()) plugin.unreserve?.(state, pod, node);
  }

  /** Whether a plugin has something to do before the pod is bound. */
  willPreBind(state: CycleState, pod: PodInfo, node: NodeInfo): boolean {
    return this.plugins.preBind.some((plugin) => plugin.willPreBind?.(state, pod, node) ?? true);
  }

  async preBind(state: CycleState, pod: PodInfo, node: NodeInfo): Promise<Status | undefined> {
    for (const plugin of this.plugins.preBind) {
      const status = await plugin.preBind?.(state, pod, node);
      if (status !== undefined) return status;
    }
    return undefined;
  }

  async bind(state: CycleState, pod: PodInfo, node: NodeInfo): Promise<Status | undefined> {
    for (const plugin of this.plugins.bind) {
      const status = await plugin.bind?.(state, pod, node);
      if (status?.code !== 'Skip') return status;
    }
    return { code: 'Error', reasons: ['no plugin binds this pod'], plugin: '' };
  }

  postBind(state: CycleState, pod: PodInfo, node: NodeInfo): void {
    for (const plugin of this.plugins.postBind) plugin.postBind?.(state, pod, node);
  }
}

function intersection(nodes: ReadonlySet<string> | undefined, added: ReadonlySet<string>): ReadonlySet<string> {
  return nodes === undefined ? added : new Set([...nodes].filter((name) => added.has(name)));
}

function noNodesLeft(narrowedBy: readonly string[]): Status {
  const [only] = narrowedBy;
  const sorted = [...narrowedBy].sort();
  const plugins = narrowedBy.length === 1 ? `plugin ${only}` : `plugin(s) [${sorted.join(' ')}] simultaneously`;
  return unresolvable('', `node(s) didn't satisfy ${plugins}`);
}
