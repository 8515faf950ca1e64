import type { core, policy } from '#api';
import type { Random } from '#base';
import type { CycleState } from '../../framework/cycle-state.ts';
import { Diagnosis } from '../../framework/diagnosis.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { Plugin, PluginFactory, PostFilterContext, PostFilterResult, PreemptionCandidate } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { type Status, unresolvable, unschedulable } from '../../framework/status.ts';
import { pickCandidate } from './pick-candidate.ts';
import { selectVictims } from './select-victims.ts';

const NAME = 'DefaultPreemption';
const NOT_HELPFUL = unresolvable(NAME, 'Preemption is not helpful for scheduling');

interface Limits {
  readonly percentage: number;
  readonly absolute: number;
}

/** Selects the node and the lower-priority victims whose eviction lets the pod fit; the scheduler evicts them. */
export const defaultPreemption: PluginFactory = (args, { objects, random }): Plugin => {
  const limits: Limits = {
    percentage: (args.minCandidateNodesPercentage as number | undefined) ?? 10,
    absolute: (args.minCandidateNodesAbsolute as number | undefined) ?? 100,
  };
  return {
    name: NAME,
    // Only the plugins that rejected the pod react to deleted victims.
    events: [{ resource: 'AssignedPod', actions: ['Delete'], hint: () => 'Skip' }],
    postFilter(state, pod, context) {
      const result = preempt(state, pod, { context, limits, random, budgets: () => objects.disruptionBudgets.list() });
      const { status } = result;
      if (status === undefined || status.reasons.length === 0) return result;
      return { ...result, status: { ...status, reasons: [`preemption: ${status.reasons.join(', ')}`] } };
    },
  };
};

interface Attempt {
  readonly context: PostFilterContext;
  readonly limits: Limits;
  readonly random: Random;
  budgets(): readonly policy.PodDisruptionBudget[];
}

function preempt(state: CycleState, pod: PodInfo, attempt: Attempt): PostFilterResult {
  const { context } = attempt;
  const reason = whyNotEligible(pod, context);
  if (reason !== undefined) return { status: unschedulable(NAME, reason) };
  const outcome = tryNodes(state, pod, attempt);
  const candidates = context.reviewCandidates?.(outcome.candidates) ?? outcome.candidates;
  const best = pickCandidate(candidates);
  if (best === undefined) return { status: unschedulable(NAME, outcome.diagnosis.message()), nominatedNode: '' };
  return { status: undefined, nominatedNode: best.node.name, victims: best.victims.pods };
}

function whyNotEligible({ pod, priority }: PodInfo, { snapshot, diagnosis }: PostFilterContext): string | undefined {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = pod.status?.nominatedNodeName ?? '';
  if (nominated === '' || diagnosis.statusOf(nominated).code === 'UnschedulableAndUnresolvable') return undefined;
  const pods = snapshot.node(nominated)?.pods.values() ?? [];
  for (const other of pods) {
    if (other.priority < priority && isBeingPreempted(other.pod)) return 'not eligible due to a terminating pod on the nominated node.';
  }
  return undefined;
}

function isBeingPreempted({ metadata, status }: core.Pod): boolean {
  if (metadata.deletionTimestamp == null) return false;
  const condition = (status?.conditions ?? []).find(({ type }) => type === 'DisruptionTarget');
  return condition?.status === 'True' && condition.reason === 'PreemptionByScheduler';
}

interface Outcome {
  readonly candidates: readonly PreemptionCandidate[];
  readonly diagnosis: Diagnosis;
}

/** Evaluates nodes from a random start, until there are enough candidates, one of them without a violated budget. */
function tryNodes(state: CycleState, pod: PodInfo, { context, limits, random, budgets }: Attempt): Outcome {
  const { snapshot, diagnosis: failures } = context;
  const diagnosis = new Diagnosis(snapshot.nodes.length);
  diagnosis.absentNodes = NOT_HELPFUL;
  const nodes = snapshot.nodes.filter(({ name }) => failures.statusOf(name).code === 'Unschedulable');
  const candidates: PreemptionCandidate[] = [];
  if (nodes.length === 0) return { candidates, diagnosis };
  const enough = maxCandidates(nodes.length, limits);
  const offset = random.int(nodes.length);
  const allBudgets = budgets();
  let hasClean = false;
  for (let i = 0; i < nodes.length && !(hasClean && candidates.length >= enough); i++) {
    const node = nodes[(offset + i) % nodes.length] as NodeInfo;
    const victims = selectVictims(pod, { state: state.clone(), node: node.clone(), context }, allBudgets);
    if (isStatus(victims)) {
      diagnosis.setStatus(node, victims);
      continue;
    }
    candidates.push({ node, victims });
    hasClean ||= victims.violations === 0;
  }
  return { candidates, diagnosis };
}

function maxCandidates(nodes: number, { percentage, absolute }: Limits): number {
  return Math.min(Math.max(Math.trunc((nodes * percentage) / 100), absolute), nodes);
}

function isStatus(value: object): value is Status {
  return 'code' in value;
}
