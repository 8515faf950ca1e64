import { compareBytes } from '#machinery';
import { type Status, unresolvable } from './status.ts';

/** Why a pod fits no node. */
export class Diagnosis {
  /** Per-node reasons, built lazily: they are read only if the pod does not fit. */
  #notedNodes: { readonly name: string }[] = [];
  #notedStatuses: Status[] = [];
  readonly #statuses = new Map<string, Status>();
  readonly #rejectedBy = new Set<string>();
  readonly #pendingOn = new Set<string>();
  #rejections = 0;
  /** The status of nodes that were not evaluated. */
  absentNodes: Status = unresolvable('');
  /** Set when a plugin rejected the pod for every node at once. */
  preFilterMessage = '';
  postFilterMessage = '';

  constructor(readonly nodeCount: number) {}

  /** The number of evaluated nodes that do not fit. */
  get rejections(): number {
    return this.#rejections;
  }

  get rejectedBy(): ReadonlySet<string> {
    this.#sort();
    return this.#rejectedBy;
  }

  get pendingOn(): ReadonlySet<string> {
    this.#sort();
    return this.#pendingOn;
  }

  /** Called once per node. */
  setStatus(node: { readonly name: string }, status: Status): void {
    this.#rejections++;
    this.#notedNodes.push(node);
    this.#notedStatuses.push(status);
  }

  statusOf(nodeName: string): Status {
    this.#sort();
    return this.#statuses.get(nodeName) ?? this.absentNodes;
  }

  blame({ plugin, code }: Status): void {
    if (plugin === '') return;
    if (code === 'Pending') this.#pendingOn.add(plugin);
    else this.#rejectedBy.add(plugin);
  }

  #sort(): void {
    if (this.#notedNodes.length === 0) return;
    this.#notedNodes.forEach(({ name }, i) => {
      const status = this.#notedStatuses[i] as Status;
      this.#statuses.set(name, status);
      this.blame(status);
    });
    this.#notedNodes = [];
    this.#notedStatuses = [];
  }

  /** Upstream's message of events and conditions: clients match on it. */
  message(): string {
    const head = `0/${this.nodeCount} nodes are available:`;
    const reasons = this.preFilterMessage === '' ? this.#histogram() : this.preFilterMessage;
    return head + (reasons === '' ? '' : ` ${reasons}.`) + (this.postFilterMessage === '' ? '' : ` ${this.postFilterMessage}`);
  }

  #histogram(): string {
    const counts = new Map<string, number>();
    const count = (status: Status, by: number) => {
      for (const reason of status.reasons) counts.set(reason, (counts.get(reason) ?? 0) + by);
    };
    this.#sort();
    for (const status of this.#statuses.values()) count(status, 1);
    const absent = this.nodeCount - this.#statuses.size;
    if (absent > 0) count(this.absentNodes, absent);
    const lines = [...counts].map(([reason, nodes]) => `${nodes} ${reason}`);
    return lines.sort(compareBytes).join(', ');
  }
}
