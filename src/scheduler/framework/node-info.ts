import type { core } from '#api';
import type { Labels } from '#machinery';
import type { HostPort, PodInfo } from './pod-info.ts';
import { amountsOf, listAmounts, type QuantityReader, type ResourceAmounts } from './pod-resources.ts';

const NO_LABELS: Labels = {};
const NO_TAINTS: readonly core.Taint[] = [];
const NOTHING: ResourceAmounts = { milliCpu: 0, memory: 0, ephemeralStorage: 0, scalars: undefined };
const ANY_ADDRESS = '0.0.0.0';

/**
 * Indexes in `NodeInfo.amounts`. Numbers that are read for hundreds of nodes per pod are contiguous in memory: as fields of objects, each
 * number would be a separate allocation.
 */
export const ALLOWED_PODS = 0;
export const POD_COUNT = 1;
export const CPU = 2;
export const CPU_USED = 3;
export const MEMORY = 4;
export const MEMORY_USED = 5;
export const STORAGE = 6;
export const STORAGE_USED = 7;
/** For scores: pods without requests count with a default amount. */
export const CPU_SCORED = 8;
export const MEMORY_SCORED = 9;
const PLACES = 10;

/** All that scheduling reads from a Node object. */
export interface NodeFacts {
  readonly node: core.Node;
  readonly amounts: ReturnType<typeof listAmounts>;
  readonly taints: readonly core.Taint[];
  readonly images: ReadonlyMap<string, number>;
}

/** Throws on a malformed node, before any change. */
export function readNode(node: core.Node, quantities: QuantityReader): NodeFacts {
  const amounts = listAmounts(node.status?.allocatable as Readonly<Record<string, string>> | undefined, quantities);
  const taints = node.spec?.taints ?? NO_TAINTS;
  if (taints.includes(null as never)) throw new TypeError('spec.taints has null');
  return { node, amounts, taints, images: imagesOf(node) };
}

/** A node with its pods and their sums, updated incrementally. Read-only for plugins. */
export class NodeInfo {
  node: core.Node | undefined;
  labels: Labels = NO_LABELS;
  taints: readonly core.Taint[] = NO_TAINTS;
  allocatable: ResourceAmounts = NOTHING;
  /** Sizes by normalized name. */
  images: ReadonlyMap<string, number> = new Map();
  readonly pods = new Map<string, PodInfo>();
  /** See the indexes above. */
  readonly amounts = new Float64Array(PLACES);
  readonly scalarsUsed = new Map<string, number>();
  /** How many pods use each host port. */
  readonly #ports = new Map<string, number>();
  /** The same, whatever the address. */
  readonly #portsOfAnyAddress = new Map<string, number>();
  /** How many pods use each claim, as `namespace/name`. */
  readonly claimUsers = new Map<string, number>();

  /** Among the snapshot's nodes; -1 when it is not one of them. */
  place = -1;

  constructor(readonly name: string) {}

  setNode({ node, amounts, taints, images }: NodeFacts): void {
    this.node = node;
    this.labels = (node.metadata.labels as Labels | undefined) ?? NO_LABELS;
    this.taints = taints;
    this.#setAllocatable(amountsOf(amounts), amounts.get('pods') ?? 0);
    this.images = images;
  }

  clearNode(): void {
    this.node = undefined;
    this.labels = NO_LABELS;
    this.taints = NO_TAINTS;
    this.#setAllocatable(NOTHING, 0);
    this.images = new Map();
  }

  addPod(info: PodInfo): void {
    this.pods.set(info.uid, info);
    this.#count(info, 1);
  }

  removePod(info: PodInfo): void {
    const existing = this.pods.get(info.uid);
    if (existing === undefined) return;
    this.pods.delete(info.uid);
    this.#count(existing, -1);
  }

  /** A copy for simulations. */
  clone(): NodeInfo {
    const copy = new NodeInfo(this.name);
    Object.assign(copy, { node: this.node, labels: this.labels, taints: this.taints });
    copy.images = this.images;
    copy.#setAllocatable(this.allocatable, this.amounts[ALLOWED_PODS] as number);
    for (const info of this.pods.values()) copy.addPod(info);
    return copy;
  }

  /** A port on all addresses conflicts with the same port on any address. */
  usesPort({ ip, protocol, port }: HostPort): boolean {
    if (this.#ports.size === 0) return false;
    if (ip === ANY_ADDRESS) return this.#portsOfAnyAddress.has(`${protocol} ${port}`);
    return this.#ports.has(portKey(ip, protocol, port)) || this.#ports.has(portKey(ANY_ADDRESS, protocol, port));
  }

  #count(info: PodInfo, sign: 1 | -1): void {
    const { requests } = info;
    this.#add(POD_COUNT, sign);
    this.#add(CPU_USED, sign * requests.milliCpu);
    this.#add(MEMORY_USED, sign * requests.memory);
    this.#add(STORAGE_USED, sign * requests.ephemeralStorage);
    this.#add(CPU_SCORED, sign * info.nonZeroMilliCpu);
    this.#add(MEMORY_SCORED, sign * info.nonZeroMemory);
    if (requests.scalars) for (const [name, amount] of requests.scalars) change(this.scalarsUsed, name, sign * amount);
    for (const port of info.hostPorts) this.#countPort(port, sign);
    for (const claim of info.claims) change(this.claimUsers, `${info.namespace}/${claim}`, sign);
  }

  #add(place: number, by: number): void {
    this.amounts[place] = (this.amounts[place] as number) + by;
  }

  #setAllocatable(allocatable: ResourceAmounts, pods: number): void {
    this.allocatable = allocatable;
    this.amounts[ALLOWED_PODS] = pods;
    this.amounts[CPU] = allocatable.milliCpu;
    this.amounts[MEMORY] = allocatable.memory;
    this.amounts[STORAGE] = allocatable.ephemeralStorage;
  }

  #countPort({ ip, protocol, port }: HostPort, sign: 1 | -1): void {
    change(this.#ports, portKey(ip, protocol, port), sign);
    change(this.#portsOfAnyAddress, `${protocol} ${port}`, sign);
  }
}

function portKey(ip: string, protocol: string, port: number): string {
  return `${ip} ${protocol} ${port}`;
}

function change(amounts: Map<string, number>, name: string, by: number): void {
  const amount = (amounts.get(name) ?? 0) + by;
  if (amount === 0) amounts.delete(name);
  else amounts.set(name, amount);
}

function imagesOf(node: core.Node): ReadonlyMap<string, number> {
  const images = new Map<string, number>();
  for (const { names, sizeBytes } of node.status?.images ?? []) {
    for (const name of names ?? []) images.set(normalizedImageName(name), Number(sizeBytes ?? 0));
  }
  return images;
}

/** With its tag: `:latest` when it has none. */
export function normalizedImageName(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}
