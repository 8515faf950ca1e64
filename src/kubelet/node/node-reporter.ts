import { core } from '#api';
import { type Clock, type Logger, type Random, retry, type TimerHandle } from '#base';
import type { Client, EventRecorder } from '#client';
import { findCondition, isStatusReason } from '#machinery';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { SharedTicker } from '../shared-ticker.ts';
import type { NodeConfig } from './node-config.ts';
import { conditionEvent, type NodePressure, nodeStatus } from './node-status.ts';

export interface NodeReporterDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly runtime: ContainerRuntime;
  readonly recorder: EventRecorder;
  readonly ticker: SharedTicker;
  readonly signal: AbortSignal;
}

export interface NodeReporterOptions {
  readonly config: NodeConfig;
  readonly registers: boolean;
  /** What the API says of the node was said by this kubelet, or one that it takes the place of: it is no news. */
  readonly isContinued: boolean;
  readonly reportMs: number;
}

const RETRY = { initialMs: 100, maxMs: 7000 };
const NO_PRESSURE: NodePressure = { memory: false, disk: false, pid: false };

/** Registers the node and keeps its status current: at once when something changed, else every few minutes. */
export class NodeReporter {
  #node: core.Node | undefined;
  #reported: core.NodeStatus | undefined;
  #pressure = NO_PRESSURE;
  #writing: Promise<void> | undefined;
  #isStale = false;
  #timer: TimerHandle | undefined;

  constructor(
    private readonly options: NodeReporterOptions,
    private readonly deps: NodeReporterDeps,
  ) {}

  /** As the API last showed it. */
  get node(): core.Node | undefined {
    return this.#node;
  }

  get pressure(): NodePressure {
    return this.#pressure;
  }

  /** Resolves when the API has the node, with its status. */
  async start(): Promise<void> {
    const { clock, signal } = this.deps;
    await retry({ clock, backoff: RETRY, signal }, () => this.#register());
    this.#plan();
  }

  /** Takes up the node where it was reported before, without a word to the API. */
  async adopt(node: core.Node): Promise<void> {
    this.#node = node;
    this.#reported = await this.#status(node.status);
    this.#plan();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  setPressure(pressure: Partial<NodePressure>): void {
    this.#pressure = { ...this.#pressure, ...pressure };
    this.report();
  }

  /** The API told of the node. Whoever changed what the kubelet says of it is contradicted. */
  observe(node: core.Node): void {
    this.#node = node;
    const isContradicted = (this.#reported?.conditions ?? []).some(
      ({ type, status }) => findCondition(node.status?.conditions, type)?.status !== status,
    );
    if (isContradicted) this.report();
  }

  /** Writes the status now, or again after the write that is under way. */
  report(): void {
    if (this.#reported === undefined) return;
    this.#isStale = true;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    const { clock, signal, logger } = this.deps;
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false;
      try {
        await retry({ clock, backoff: RETRY, signal, retryOn: (error) => !isStatusReason(error, 'NotFound') }, () => this.#write());
      } catch (error) {
        if (!signal.aborted) logger.warn('the status of the node could not be written', { error });
      }
    }
    if (!signal.aborted) this.#plan();
  }

  #plan(): void {
    this.#timer?.cancel();
    this.#timer = this.deps.ticker.after(this.options.reportMs, () => this.report());
  }

  async #register(): Promise<void> {
    const { client } = this.deps;
    const nodes = client.of(core.Node);
    const { nodeName } = this.options.config;
    const status = await this.#status(undefined);
    const existing = await this.#existing();
    if (existing === undefined) {
      if (!this.options.registers) throw new Error(`node ${nodeName} does not exist, and this kubelet does not register it`);
      this.#node = await nodes.create(this.#newNode(status));
    } else {
      this.#node = existing;
      if (this.options.registers) await this.#reconcileMetadata(existing);
    }
    await this.#write();
  }

  async #existing(): Promise<core.Node | undefined> {
    try {
      return await this.deps.client.of(core.Node).get({ name: this.options.config.nodeName });
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  #newNode(status: core.NodeStatus) {
    const { nodeName, labels, annotations, taints, providerId, unschedulable } = this.options.config;
    const spec = {
      ...(taints.length > 0 && { taints }),
      ...(providerId && { providerID: providerId }),
      ...(unschedulable && { unschedulable }),
    };
    return { metadata: { name: nodeName, labels, annotations }, spec, status };
  }

  async #reconcileMetadata({ metadata }: core.Node): Promise<void> {
    const { labels, nodeName, annotations } = this.options.config;
    const isCurrent = Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
    if (isCurrent) return;
    this.#node = await this.deps.client.of(core.Node).patch({ name: nodeName }, { metadata: { labels, annotations } });
  }

  async #status(previous: core.NodeStatus | undefined): Promise<core.NodeStatus> {
    const { runtime, clock } = this.deps;
    const { runtimeName, runtimeVersion } = await runtime.version();
    const { runtimeProblem, networkProblem } = await runtime.status();
    const problems = [runtimeProblem, networkProblem].filter((problem) => problem !== undefined);
    const facts = { config: this.options.config, runtimeVersion: `${runtimeName}://${runtimeVersion}`, problems, pressure: this.#pressure };
    return nodeStatus({ ...facts, images: await runtime.listImages(), nowMs: clock.now() }, previous);
  }

  async #write(): Promise<void> {
    const { client } = this.deps;
    const { nodeName } = this.options.config;
    const before = this.#node?.status;
    const status = await this.#status(before);
    const isFirst = this.#reported === undefined;
    if (!isFirst || !isSameStatus(before, status)) {
      this.#node = await client.of(core.Node).patch({ name: nodeName }, { status }, { type: 'strategic', subresource: 'status' });
    }
    this.#tell((this.#reported ?? (this.options.isContinued ? before : undefined))?.conditions ?? [], status.conditions ?? []);
    this.#reported = status;
  }

  #tell(before: readonly core.NodeCondition[], after: readonly core.NodeCondition[]): void {
    const { recorder } = this.deps;
    const { nodeName } = this.options.config;
    for (const condition of after) {
      if (findCondition(before, condition.type)?.status === condition.status) continue;
      const event = conditionEvent(condition);
      recorder.normal(nodeReference(nodeName), event, `Node ${nodeName} status is now: ${event}`);
    }
  }
}

/** Events of the kubelet about its node name it by its name, also as its identity. */
export function nodeReference(nodeName: string): core.ObjectReference {
  return { kind: 'Node', name: nodeName, uid: nodeName };
}

function isSameStatus(before: core.NodeStatus | undefined, after: core.NodeStatus): boolean {
  return (after.conditions ?? []).every((condition) => {
    const old = findCondition(before?.conditions, condition.type);
    return old?.status === condition.status && old.reason === condition.reason && old.lastHeartbeatTime === condition.lastHeartbeatTime;
  });
}
