import type { core, policy } from '#api';
import { type LabelSelectorObject, type Labels, lenientSelector, parseTime } from '#machinery';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { PostFilterContext, PreemptionVictims } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { type Status, unresolvable } from '../../framework/status.ts';

const NO_VICTIMS = unresolvable('DefaultPreemption', 'No preemption victims found for incoming pod');

interface Trial {
  readonly state: CycleState;
  readonly node: NodeInfo;
  readonly context: PostFilterContext;
}

/** The minimal set of lowest-priority victims; a status when evicting all candidates would not help. */
export function selectVictims(
  preemptor: PodInfo,
  trial: Trial,
  budgets: readonly policy.PodDisruptionBudget[],
): PreemptionVictims | Status {
  const { node, state, context } = trial;
  const candidates = [...node.pods.values()].filter(({ priority }) => priority < preemptor.priority);
  if (candidates.length === 0) return NO_VICTIMS;
  for (const pod of candidates) take(pod, trial);
  const rejection = context.fits(state, node);
  if (rejection !== undefined) return rejection;
  const { violating, others } = splitByBudgets(candidates.sort(compareImportance), budgets);
  const unlucky = violating.filter((pod) => !reprieve(pod, trial));
  const rest = others.filter((pod) => !reprieve(pod, trial));
  return { pods: [...unlucky, ...rest].sort(compareImportance), violations: unlucky.length };
}

function take(pod: PodInfo, { state, node, context }: Trial): void {
  node.removePod(pod);
  context.removePod(state, { pod, node });
}

/** Adds a candidate back; it stays if the preemptor still fits. */
function reprieve(pod: PodInfo, trial: Trial): boolean {
  const { state, node, context } = trial;
  node.addPod(pod);
  context.addPod(state, { pod, node });
  if (context.fits(state, node) === undefined) return true;
  take(pod, trial);
  return false;
}

/** Negative when `a` is more important: higher priority, or started earlier. */
export function compareImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a.pod) - startOf(b.pod);
}

/** Pods that have not started yet count as starting now, after all that have. */
export function startOf({ status }: core.Pod): number {
  return status?.startTime == null ? Number.MAX_SAFE_INTEGER : (parseTime(status.startTime as string) ?? Number.MAX_SAFE_INTEGER);
}

interface SplitPods {
  readonly violating: readonly PodInfo[];
  readonly others: readonly PodInfo[];
}

function splitByBudgets(pods: readonly PodInfo[], budgets: readonly policy.PodDisruptionBudget[]): SplitPods {
  const open = budgets.map((budget) => ({
    budget,
    selector: lenientSelector(budget.spec?.selector as LabelSelectorObject | undefined),
    allowed: budget.status?.disruptionsAllowed ?? 0,
  }));
  const violates = ({ namespace, name, labels }: PodInfo): boolean => {
    let isViolated = false;
    for (const entry of open) {
      const { budget, selector } = entry;
      if (budget.metadata.namespace !== namespace || !hasLabels(labels) || selector.isEmpty || !selector.matches(labels)) continue;
      // The budget already counts it as disrupted.
      if ((budget.status?.disruptedPods as Labels | undefined)?.[name] !== undefined) continue;
      if (--entry.allowed < 0) isViolated = true;
    }
    return isViolated;
  };
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) (violates(pod) ? violating : others).push(pod);
  return { violating, others };
}

function hasLabels(labels: Labels): boolean {
  for (const _ in labels) return true;
  return false;
}
