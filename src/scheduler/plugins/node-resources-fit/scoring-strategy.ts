import { MAX_SCORE } from '../../framework/normalize-scores.ts';
import type { Fullness, WeightedResource } from './resource-scorer.ts';

export interface ScoringStrategy {
  readonly resources: readonly WeightedResource[];
  score(fullness: Fullness): number;
}

interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

interface StrategyArgs {
  readonly type?: string;
  readonly resources?: readonly { readonly name: string; readonly weight?: number }[];
  readonly requestedToCapacityRatio?: { readonly shape?: readonly ShapePoint[] };
}

export const DEFAULT_RESOURCES: readonly WeightedResource[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** Checked when the configuration was read. */
export function scoringStrategy(input: unknown): ScoringStrategy {
  const { type = 'LeastAllocated', resources, requestedToCapacityRatio } = (input ?? {}) as StrategyArgs;
  const weighted = (resources ?? []).map(({ name, weight }) => ({ name, weight: weight || 1 }));
  return { resources: weighted.length === 0 ? DEFAULT_RESOURCES : weighted, score: scorerOf(type, requestedToCapacityRatio?.shape ?? []) };
}

function scorerOf(type: string, shape: readonly ShapePoint[]): (fullness: Fullness) => number {
  switch (type) {
    case 'MostAllocated':
      return (fullness) =>
        weighted(fullness, (requested, total) => Math.trunc((Math.min(requested, total) * MAX_SCORE) / total), Math.trunc);
    case 'RequestedToCapacityRatio':
      return (fullness) => weighted(fullness, ratioBy(shape), Math.round);
    default:
      return leastAllocated;
  }
}

/** The default, specialised: it runs for every node of every pod. */
function leastAllocated({ count, allocatable, requested, weights }: Fullness): number {
  let sum = 0;
  let weightSum = 0;
  for (let i = 0; i < count; i++) {
    const total = allocatable[i] as number;
    if (total === 0) continue;
    const free = total - (requested[i] as number);
    const weight = weights[i] as number;
    if (free > 0) sum += Math.trunc((free * MAX_SCORE) / total) * weight;
    weightSum += weight;
  }
  return weightSum === 0 ? 0 : Math.trunc(sum / weightSum);
}

type ResourceScore = (requested: number, total: number) => number;

function weighted({ count, allocatable, requested, weights }: Fullness, score: ResourceScore, round: (value: number) => number): number {
  let sum = 0;
  let weightSum = 0;
  for (let i = 0; i < count; i++) {
    const total = allocatable[i] as number;
    if (total === 0) continue;
    sum += score(requested[i] as number, total) * (weights[i] as number);
    weightSum += weights[i] as number;
  }
  return weightSum === 0 ? 0 : round(sum / weightSum);
}

/** Interpolates linearly between the points; scores in the configuration are 0 to 10. */
function ratioBy(shape: readonly ShapePoint[]): ResourceScore {
  const points = shape.map(({ utilization, score }) => ({ utilization, score: score * (MAX_SCORE / 10) }));
  return (requested, total) => valueAt(points, requested > total ? 100 : Math.trunc((requested * 100) / total));
}

function valueAt(points: readonly ShapePoint[], utilization: number): number {
  for (let i = 0; i < points.length; i++) {
    const point = points[i] as ShapePoint;
    if (utilization > point.utilization) continue;
    const before = points[i - 1];
    if (before === undefined) return point.score;
    const share = (utilization - before.utilization) / (point.utilization - before.utilization);
    return Math.trunc(before.score + (point.score - before.score) * share);
  }
  return points.at(-1)?.score ?? 0;
}
