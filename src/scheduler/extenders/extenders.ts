import type { Clock, Logger } from '#base';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PreemptionCandidate, PreemptionVictims } from '../framework/plugin.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import type { Snapshot } from '../framework/snapshot.ts';
import { failed, type Status, unresolvable, unschedulable } from '../framework/status.ts';
import type { ExtenderConfiguration } from './extender-configuration.ts';
import { HttpExtender, MAX_EXTENDER_PRIORITY, type VictimUids } from './http-extender.ts';

/** Reported instead of a plugin's name for nodes that extenders reject. */
const NAME = 'Extender';
const MAX_NODE_SCORE = 100;

/** The extenders' results for one pod. */
export interface ExtenderResults {
  readonly accepted: ReadonlySet<string>;
  readonly rejections: ReadonlyMap<string, Status>;
  /** On the scale of plugins' weighted scores. */
  readonly scores: ReadonlyMap<string, number>;
}

export interface ExtendersDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the scheduler stops. */
  readonly signal: AbortSignal;
}

/** Services outside of the scheduler that filter and score nodes, choose victims, and bind. */
export class Extenders {
  readonly #all: readonly HttpExtender[];
  readonly #deps: ExtendersDeps;

  constructor(configurations: readonly ExtenderConfiguration[], deps: ExtendersDeps) {
    this.#deps = deps;
    this.#all = configurations.map((configuration) => new HttpExtender(configuration, deps.clock));
  }

  /** Whether extenders apply to the pod. */
  concerns({ pod }: PodInfo): boolean {
    return this.#all.some((extender) => extender.isInterested(pod) && takesPart(extender));
  }

  close(): void {
    for (const extender of this.#all) extender.close();
  }

  async filterAndPrioritize({ pod }: PodInfo, nodes: readonly NodeInfo[]): Promise<ExtenderResults> {
    const rejections = new Map<string, Status>();
    let left = nodes;
    for (const extender of this.#interested({ pod }, 'filterVerb')) {
      if (left.length === 0) break;
      const answer = await this.#ignoreIfIgnorable(extender, () => extender.filter(pod, left, this.#deps.signal));
      if (answer === undefined) continue;
      for (const [node, reason] of Object.entries(answer.failed)) rejections.set(node, unschedulable(NAME, reason));
      for (const [node, reason] of Object.entries(answer.unresolvable)) rejections.set(node, unresolvable(NAME, reason));
      const names = new Set(answer.nodes);
      left = left.filter(({ name }) => names.has(name));
    }
    for (const { name } of nodes)
      if (!left.some((node) => node.name === name) && !rejections.has(name)) rejections.set(name, unschedulable(NAME));
    return { accepted: new Set(left.map(({ name }) => name)), rejections, scores: await this.#scores({ pod }, left) };
  }

  /** Fewer than two nodes need no scores. A failed extender contributes none. */
  async #scores({ pod }: Pick<PodInfo, 'pod'>, nodes: readonly NodeInfo[]): Promise<ReadonlyMap<string, number>> {
    const totals = new Map<string, number>();
    if (nodes.length < 2) return totals;
    const requests = this.#interested({ pod }, 'prioritizeVerb').map(async (extender) => {
      const scores = await extender.prioritize(pod, nodes, this.#deps.signal).catch((error: unknown) => this.#skipped(extender, error));
      for (const [node, score] of scores ?? [])
        totals.set(node, (totals.get(node) ?? 0) + score * extender.config.weight * (MAX_NODE_SCORE / MAX_EXTENDER_PRIORITY));
    });
    await Promise.all(requests);
    return totals;
  }

  /** The candidates for preemption that are left, with the victims that the extenders chose. */
  async reviewVictims(
    { pod }: PodInfo,
    candidates: readonly PreemptionCandidate[],
    snapshot: Snapshot,
  ): Promise<readonly PreemptionCandidate[]> {
    let left = candidates;
    for (const extender of this.#interested({ pod }, 'preemptVerb')) {
      if (left.length === 0) break;
      const proposed = new Map<string, PreemptionVictims>(left.map(({ node, victims }) => [node.name, victims]));
      const reviewed = await this.#ignoreIfIgnorable(extender, async () => {
        const chosen = await extender.preempt(pod, proposed, this.#deps.signal);
        return resolveVictims(chosen, { extender, snapshot });
      });
      left = reviewed ?? left;
    }
    return left;
  }

  binds({ pod }: PodInfo): boolean {
    return this.#interested({ pod }, 'bindVerb').length > 0;
  }

  /** 'left-out': the extenders that would bind the pod failed and may be ignored. */
  async bind({ pod }: PodInfo, node: NodeInfo): Promise<Status | 'bound' | 'left-out'> {
    for (const extender of this.#interested({ pod }, 'bindVerb')) {
      try {
        await extender.bind(pod, node.name, this.#deps.signal);
        return 'bound';
      } catch (error) {
        if (!extender.config.ignorable) return failed(NAME, error);
        this.#skipped(extender, error);
      }
    }
    return 'left-out';
  }

  #interested({ pod }: Pick<PodInfo, 'pod'>, verb: Verb): readonly HttpExtender[] {
    return this.#all.filter((extender) => extender.config[verb] !== '' && extender.isInterested(pod));
  }

  async #ignoreIfIgnorable<T>(extender: HttpExtender, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (!extender.config.ignorable) throw error;
      return this.#skipped(extender, error);
    }
  }

  #skipped(extender: HttpExtender, error: unknown): undefined {
    this.#deps.logger.warn('ignoring an extender that failed', { extender: extender.config.urlPrefix, error });
    return undefined;
  }
}

type Verb = 'filterVerb' | 'prioritizeVerb' | 'preemptVerb' | 'bindVerb';

function takesPart({ config }: HttpExtender): boolean {
  return config.filterVerb !== '' || config.prioritizeVerb !== '' || config.preemptVerb !== '';
}

function resolveVictims(
  chosen: VictimUids,
  { extender, snapshot }: { extender: HttpExtender; snapshot: Snapshot },
): readonly PreemptionCandidate[] {
  const { ignorable, urlPrefix } = extender.config;
  return [...chosen].flatMap(([name, { uids, violations }]) => {
    const node = snapshot.node(name);
    if (node === undefined) throw new Error(`nodeinfo not found for node name "${name}"`);
    const pods = uids.map((uid) => {
      const pod = node.pods.get(uid);
      if (pod !== undefined) return pod;
      throw new Error(`extender: ${urlPrefix} claims to preempt pod (UID: ${uid}) on node: ${name}, but the pod is not found on that node`);
    });
    if (pods.length > 0) return [{ node, victims: { pods, violations } }];
    if (ignorable) return [];
    throw new Error(`expected at least one victim pod on node "${name}"`);
  });
}
