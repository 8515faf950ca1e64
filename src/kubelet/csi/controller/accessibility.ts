import { core, storage } from '#api';
import type { InformerFactory } from '#client';
import { sidecarFlags } from './sidecar-flags.ts';
import { type Segments, topologyKeys, topologyKeysOf } from './topology.ts';

const MAX_UINT32 = 0xffffffff;

export interface AccessibilityOptions {
  readonly driverName: string;
  readonly claimName: string;
  readonly allowedTopologies: readonly core.TopologySelectorTerm[];
  /** The node of the claim's first pod; undefined: the class binds immediately. */
  readonly selectedNode: string | undefined;
}

export interface AccessibilityRequirements {
  readonly requisite: readonly { readonly segments: Segments }[];
  /** The same topologies, the best first. */
  readonly preferred: readonly { readonly segments: Segments }[];
}

/** The volume is not accessible from the selected node: the scheduler must choose again. */
export class UnusableNodeError extends Error {
  override readonly name = 'UnusableNodeError';
}

/** One topology: its segments, sorted by key. */
type Term = readonly (readonly [key: string, value: string])[];

/** Where the volume must be accessible, by external-provisioner's rules. undefined: anywhere. */
export function accessibilityRequirements(
  options: AccessibilityOptions,
  informers: InformerFactory,
): AccessibilityRequirements | undefined {
  const { claimName, selectedNode } = options;
  const selected = selectedNode === undefined ? undefined : selectedTopology({ ...options, selectedNode }, informers);
  const requisite = unique(requisiteTerms(options, selected, informers) ?? []);
  if (requisite.length === 0) return undefined;
  const first = selected === undefined ? spreadIndex(claimName, requisite.length) : requisite.findIndex((term) => isSubset(term, selected));
  if (first < 0)
    throw new Error(`topology ${show(selected)} from selected node "${selectedNode}" is not in requisite: ${showAll(requisite)}`);
  const preferred = [...requisite.slice(first), ...requisite.slice(0, first)];
  return { requisite: requisite.map(topology), preferred: preferred.map(topology) };
}

function selectedTopology({ driverName, selectedNode }: AccessibilityOptions & { selectedNode: string }, informers: InformerFactory): Term {
  const keys = topologyKeys(selectedNode, driverName, informers);
  if (keys === undefined)
    throw new UnusableNodeError(`failed to get selected CSINode ${selectedNode}: csinode.storage.k8s.io "${selectedNode}" not found`);
  if (keys.length === 0) throw new Error(`no topology key found for node ${selectedNode}`);
  const labels = informers.of(core.Node).lister.get({ name: selectedNode })?.metadata.labels ?? {};
  const term = termOf(labels, keys);
  if (term !== undefined) return term;
  const labelTexts = Object.entries(labels)
    .sort(byKey)
    .map(([key, value]) => `${key}:${value}`);
  throw new Error(
    `topology labels from selected node map[${labelTexts.join(' ')}] does not match topology keys from CSINode [${keys.join(' ')}]`,
  );
}

/** undefined: not sent to the driver. */
function requisiteTerms(
  options: AccessibilityOptions,
  selected: Term | undefined,
  informers: InformerFactory,
): readonly Term[] | undefined {
  const { driverName, selectedNode } = options;
  const allowed = flatten(options.allowedTopologies);
  const { strictTopology, immediateTopology } = sidecarFlags(driverName, informers);
  if (selected !== undefined && strictTopology) {
    if (options.allowedTopologies.length > 0 && !allowed.some((term) => isSubset(term, selected)))
      throw new Error(`selected node '"${selectedNode}"' topology '${show(selected)}' is not in allowed topologies: ${showAll(allowed)}`);
    return [selected];
  }
  if (options.allowedTopologies.length > 0) return allowed;
  if (selected === undefined && !immediateTopology) return undefined;
  return clusterTerms(selected?.map(([key]) => key) ?? anyTopologyKeys(driverName, informers), informers);
}

function anyTopologyKeys(driverName: string, informers: InformerFactory): readonly string[] {
  const all = informers.of(storage.CSINode).lister.list();
  const keys = all.map((csiNode) => topologyKeysOf(csiNode, driverName) ?? []).find(({ length }) => length > 0);
  // The driver may not have registered on a node yet.
  if (keys === undefined) throw new Error('no available topology found');
  return keys;
}

/** The topologies of all nodes that have the keys. */
function clusterTerms(keys: readonly string[], informers: InformerFactory): readonly Term[] {
  const nodes = informers.of(core.Node).lister.list();
  const terms = nodes.map(({ metadata }) => termOf(metadata.labels ?? {}, keys)).filter((term) => term !== undefined);
  if (terms.length === 0) throw new Error(`topologyKeys [${keys.join(' ')}] were not found on any nodes`);
  return terms;
}

/** Each term with several values becomes one term for each combination of values. */
function flatten(allowedTopologies: readonly core.TopologySelectorTerm[]): readonly Term[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }) => {
    let terms: readonly Term[] = [];
    for (const { key, values = [] } of matchLabelExpressions) {
      const bases = terms.length === 0 ? [[]] : terms;
      terms = values.flatMap((value) => bases.map((term): Term => [...term, [key, value]]));
    }
    return terms.map((term) => [...term].sort(byKey));
  });
}

function termOf(labels: Segments, keys: readonly string[]): Term | undefined {
  const term = keys.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]] as const]));
  return term.length === keys.length ? term.sort(byKey) : undefined;
}

function unique(terms: readonly Term[]): readonly Term[] {
  const byText = new Map(terms.map((term) => [JSON.stringify(term), term]));
  return Array.from(byText)
    .sort(([a, { length: lengthOfA }], [b, { length: lengthOfB }]) => lengthOfA - lengthOfB || compare(a, b))
    .map(([, term]) => term);
}

function isSubset(term: Term, of: Term): boolean {
  return term.every(([key, value]) => of.some(([otherKey, otherValue]) => key === otherKey && value === otherValue));
}

/**
 * Claims of a StatefulSet, `CLAIM-SET-0`, `CLAIM-SET-1`, … are spread over the topologies. Those of one pod have the same one: only the set's
 * name is hashed. Upstream's hash, so that volumes are where upstream's provisioner would put them.
 */
export function spreadIndex(claimName: string, count: number): number {
  const dash = claimName.lastIndexOf('-');
  const ordinal = claimName.slice(dash + 1);
  if (dash < 0 || !/^\d+$/.test(ordinal) || Number(ordinal) > MAX_UINT32) return fnv32(claimName) % count;
  const base = claimName.slice(0, dash);
  return ((fnv32(base.slice(base.lastIndexOf('-') + 1)) + Number(ordinal)) >>> 0) % count;
}

function fnv32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0;
  return hash;
}

function topology(term: Term): { readonly segments: Segments } {
  return { segments: Object.fromEntries(term) };
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return compare(a, b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** As Go prints it: clients compare event messages. */
function show(term: Term = []): string {
  return `[${term.map(([key, value]) => `{${key} ${value}}`).join(' ')}]`;
}

function showAll(terms: readonly Term[]): string {
  return `[${terms.map(show).join(' ')}]`;
}
