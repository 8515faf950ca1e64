import { CPU, CPU_USED, MEMORY, MEMORY_USED, type NodeInfo } from '../../framework/node-info.ts';
import { MAX_SCORE } from '../../framework/normalize-scores.ts';
import type { PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { SKIP } from '../../framework/status.ts';
import { signResources } from '../node-resources-fit/node-resources-fit.ts';
import { type Fullness, resourceScorer } from '../node-resources-fit/resource-scorer.ts';
import { DEFAULT_RESOURCES } from '../node-resources-fit/scoring-strategy.ts';

const NAME = 'NodeResourcesBalancedAllocation';

/** Prefers nodes on which the pod balances the utilisation of resources. */
export const nodeResourcesBalancedAllocation: PluginFactory = (args) => {
  const configured = (args.resources ?? []) as readonly { readonly name: string; readonly weight?: number }[];
  const scorer = resourceScorer(configured.length === 0 ? DEFAULT_RESOURCES : configured.map(({ name }) => ({ name, weight: 1 })), true);
  const isDefault = configured.length === 0;
  return {
    name: NAME,
    sign: signResources,
    preScore: (_, pod) => (scorer.asksForNothing(pod) ? SKIP : undefined),
    score(_, pod, node) {
      if (isDefault) return balanceOfBoth(pod, node);
      const fullness = scorer.measure(pod, node);
      const withPod = balance(fullness, fullness.requested);
      const withoutPod = balance(fullness, fullness.used);
      return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + withPod - withoutPod) / 2);
    },
  };
};

/** For CPU and memory, specialised: it runs for every feasible node of every pod. */
function balanceOfBoth({ requests }: PodInfo, { amounts }: NodeInfo): number {
  const cpu = amounts[CPU] as number;
  const memory = amounts[MEMORY] as number;
  if (cpu === 0 || memory === 0) return (MAX_SCORE / 4) * 3;
  const cpuUsed = amounts[CPU_USED] as number;
  const memoryUsed = amounts[MEMORY_USED] as number;
  const before = apart(cpuUsed / cpu, memoryUsed / memory);
  const after = apart((cpuUsed + requests.milliCpu) / cpu, (memoryUsed + requests.memory) / memory);
  return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + after - before) / 2);
}

function apart(cpuShare: number, memoryShare: number): number {
  return Math.trunc((1 - Math.abs(Math.min(cpuShare, 1) - Math.min(memoryShare, 1)) / 2) * MAX_SCORE);
}

/** 100 when all resources are utilised equally. */
function balance({ count, allocatable }: Fullness, amounts: Float64Array): number {
  let sum = 0;
  let looked = 0;
  for (let i = 0; i < count; i++) {
    if (allocatable[i] === 0) continue;
    sum += share(amounts, allocatable, i);
    looked++;
  }
  if (looked < 2) return MAX_SCORE;
  const mean = sum / looked;
  let squares = 0;
  for (let i = 0; i < count; i++) {
    if (allocatable[i] !== 0) squares += (share(amounts, allocatable, i) - mean) ** 2;
  }
  return Math.trunc((1 - Math.sqrt(squares / looked)) * MAX_SCORE);
}

function share(amounts: Float64Array, allocatable: Float64Array, i: number): number {
  return Math.min((amounts[i] as number) / (allocatable[i] as number), 1);
}
