import type { core } from '#api';
import type { Labels } from '#machinery';
import type { HostPort, PodInfo } from './pod-info.ts';
import { amountsOf, listAmounts, type QuantityReader, type ResourceAmounts } from './pod-resources.ts';

const NO_LABELS: Labels = {};
const NO_TAINTS: readonly core.Taint[] = [];
const NOTHING: ResourceAmounts = { milliCpu: 0, memory: 0, ephemeralStorage: 0, scalars: undefined };
const ANY_ADDRESS = '0.0.0.0';

/** Sums that move with each pod. */
interface Usage {
  milliCpu: number;
  memory: number;
  ephemeralStorage: number;
  readonly scalars: Map<string, number>;
  nonZeroMilliCpu: number;
  nonZeroMemory: number;
}

/** A node with its pods and their sums, kept current one pod at a time. Plugins only read it. */
export class NodeInfo {
  node: core.Node | undefined;
  labels: Labels = NO_LABELS;
  taints: readonly core.Taint[] = NO_TAINTS;
  allocatable: ResourceAmounts = NOTHING;
  allowedPods = 0;
  /** Sizes by normalized name. */
  images: ReadonlyMap<string, number> = new Map();
  readonly pods = new Map<string, PodInfo>();
  readonly requested: Usage = { milliCpu: 0, memory: 0, ephemeralStorage: 0, scalars: new Map(), nonZeroMilliCpu: 0, nonZeroMemory: 0 };
  /** How many pods use each host port. */
  readonly #ports = new Map<string, HostPort & { users: number }>();
  /** How many pods use each claim, as `namespace/name`. */
  readonly claimUsers = new Map<string, number>();

  constructor(readonly name: string) {}

  setNode(node: core.Node, quantities: QuantityReader): void {
    const allocatable = node.status?.allocatable as Readonly<Record<string, string>> | undefined;
    const amounts = listAmounts(allocatable, quantities);
    this.node = node;
    this.labels = (node.metadata.labels as Labels | undefined) ?? NO_LABELS;
    this.taints = node.spec?.taints ?? NO_TAINTS;
    this.allocatable = amountsOf(amounts);
    this.allowedPods = amounts.get('pods') ?? 0;
    this.images = imagesOf(node);
  }

  clearNode(): void {
    this.node = undefined;
    this.labels = NO_LABELS;
    this.taints = NO_TAINTS;
    this.allocatable = NOTHING;
    this.allowedPods = 0;
    this.images = new Map();
  }

  addPod(info: PodInfo): void {
    this.pods.set(info.uid, info);
    this.#count(info, 1);
  }

  removePod(info: PodInfo): void {
    const known = this.pods.get(info.uid);
    if (known === undefined) return;
    this.pods.delete(info.uid);
    this.#count(known, -1);
  }

  /** The same node with the same pods, to try things on. */
  clone(): NodeInfo {
    const copy = new NodeInfo(this.name);
    Object.assign(copy, { node: this.node, labels: this.labels, taints: this.taints });
    Object.assign(copy, { allocatable: this.allocatable, allowedPods: this.allowedPods, images: this.images });
    for (const info of this.pods.values()) copy.addPod(info);
    return copy;
  }

  /** A port on all addresses clashes with the same port on any. */
  usesPort({ ip, protocol, port }: HostPort): boolean {
    if (this.#ports.size === 0) return false;
    if (ip !== ANY_ADDRESS) return this.#ports.has(portKey(ip, protocol, port)) || this.#ports.has(portKey(ANY_ADDRESS, protocol, port));
    for (const used of this.#ports.values()) if (used.port === port && used.protocol === protocol) return true;
    return false;
  }

  #count(info: PodInfo, sign: 1 | -1): void {
    const { requested } = this;
    const { requests } = info;
    requested.milliCpu += sign * requests.milliCpu;
    requested.memory += sign * requests.memory;
    requested.ephemeralStorage += sign * requests.ephemeralStorage;
    requested.nonZeroMilliCpu += sign * info.nonZeroMilliCpu;
    requested.nonZeroMemory += sign * info.nonZeroMemory;
    if (requests.scalars) for (const [name, amount] of requests.scalars) change(requested.scalars, name, sign * amount);
    for (const port of info.hostPorts) this.#countPort(port, sign);
    for (const claim of info.claims) change(this.claimUsers, `${info.namespace}/${claim}`, sign);
  }

  #countPort(port: HostPort, sign: 1 | -1): void {
    const key = portKey(port.ip, port.protocol, port.port);
    const users = (this.#ports.get(key)?.users ?? 0) + sign;
    if (users <= 0) this.#ports.delete(key);
    else this.#ports.set(key, { ...port, users });
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
