import { maxOf, minOf } from '#base';

/** A set of NUMA nodes as a bit mask. */
export type NumaMask = number;

export interface TopologyHint {
  /** Undefined: no preference. */
  readonly nodes: NumaMask | undefined;
  readonly isPreferred: boolean;
}

/** As in KubeletConfiguration. */
export type TopologyPolicy = 'none' | 'best-effort' | 'restricted' | 'single-numa-node';
export type TopologyScope = 'container' | 'pod';

export interface MergedHint {
  readonly hint: TopologyHint;
  readonly isAdmitted: boolean;
}

/** Upstream's limit: more nodes would have too many combinations. */
export const MAX_NUMA_NODES = 8;

export function maskOf(nodes: readonly number[]): NumaMask {
  return nodes.reduce((mask, node) => mask | (1 << node), 0);
}

export function nodesOf(mask: NumaMask): readonly number[] {
  const nodes: number[] = [];
  for (let node = 0; mask >> node > 0; node++) if ((mask >> node) & 1) nodes.push(node);
  return nodes;
}

/** All non-empty subsets of these nodes, smallest first. */
export function masksOf(nodes: readonly number[]): readonly NumaMask[] {
  const masks: NumaMask[] = [];
  for (let pick = 1; pick < 1 << nodes.length; pick++) masks.push(maskOf(nodes.filter((_, index) => (pick >> index) & 1)));
  return masks.sort((a, b) => count(a) - count(b) || a - b);
}

export function count(mask: NumaMask): number {
  return nodesOf(mask).length;
}

/**
 * Merges the hints of all resources of a container or pod: the best of every combination. `hints` has
 * one list per resource; an empty list: not available anywhere; undefined: no preference. Pure.
 */
export function mergeHints(
  policy: TopologyPolicy,
  machineNodes: readonly number[],
  hints: readonly (readonly TopologyHint[] | undefined)[],
): MergedHint {
  const all = maskOf(machineNodes);
  if (policy === 'none') return { hint: { nodes: undefined, isPreferred: false }, isAdmitted: true };
  const isSingle = policy === 'single-numa-node';
  const lists = hints.map((list) => offered(list, isSingle));
  const narrowest = lists.map((list) => minOf(list.map(({ nodes }) => (nodes === undefined ? 0 : count(nodes)))));
  const widest = maxOf(narrowest, 0);
  let best: TopologyHint | undefined;
  for (const combination of combinations(lists)) {
    const merged = mergeOne(combination, all);
    if (merged.nodes !== 0 && (best === undefined || isBetter(merged, best, widest))) best = merged;
  }
  const hint = best ?? { nodes: all, isPreferred: false };
  // All NUMA nodes is the same as no preference.
  const mergedHint = isSingle && hint.nodes === all ? { ...hint, nodes: undefined } : hint;
  return { hint: mergedHint, isAdmitted: policy === 'best-effort' || hint.isPreferred };
}

function offered(list: readonly TopologyHint[] | undefined, isSingle: boolean): readonly TopologyHint[] {
  if (list === undefined) return [{ nodes: undefined, isPreferred: true }];
  if (list.length === 0) return [{ nodes: undefined, isPreferred: false }];
  if (!isSingle) return list;
  return list.filter(({ nodes, isPreferred }) => isPreferred && (nodes === undefined || count(nodes) === 1));
}

function* combinations(
  lists: readonly (readonly TopologyHint[])[],
  chosen: readonly TopologyHint[] = [],
): Generator<readonly TopologyHint[]> {
  const [first, ...rest] = lists;
  if (first === undefined) yield chosen;
  else for (const hint of first) yield* combinations(rest, [...chosen, hint]);
}

/** Preferred only when all hints are preferred and agree on the same nodes. */
function mergeOne(hints: readonly TopologyHint[], all: NumaMask): { readonly nodes: NumaMask; readonly isPreferred: boolean } {
  const masks = hints.flatMap(({ nodes }) => (nodes === undefined ? [] : [nodes]));
  return {
    nodes: masks.reduce((merged, mask) => merged & mask, all),
    isPreferred: hints.every(({ isPreferred }) => isPreferred) && masks.every((mask) => mask === masks[0]),
  };
}

function isBetter(candidate: TopologyHint, current: TopologyHint, widest: number): boolean {
  if (candidate.isPreferred !== current.isPreferred) return candidate.isPreferred;
  const [own, other] = [candidate.nodes ?? 0, current.nodes ?? 0];
  if (candidate.isPreferred) return isNarrower(own, other);
  // Without a preferred hint the one closest in size to the widest requirement wins.
  const distance = (mask: NumaMask) => Math.abs(count(mask) - widest);
  return distance(own) === distance(other) ? isNarrower(own, other) : distance(own) < distance(other);
}

function isNarrower(a: NumaMask, b: NumaMask): boolean {
  return count(a) === count(b) ? a < b : count(a) < count(b);
}
