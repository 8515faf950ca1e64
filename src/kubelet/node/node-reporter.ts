import { core } from '#api';
import { Backoff, type Clock, childSignal, type Logger, type OwnedSignal, type Random, retry, type TimerHandle } from '#base';
import type { Client, EventRecorder } from '#client';
import { findCondition, isStatusReason, type JsonObject } from '#machinery';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { SharedTicker } from '../shared-ticker.ts';
import type { NodeConfig } from './node-config.ts';
import type { NodeParts } from './node-parts.ts';
import type { PressureState } from './node-pressure.ts';
import { nodeReference } from './node-reference.ts';
import { conditionEvent, nodeStatus } from './node-status.ts';
import { RuntimeHealth } from './runtime-health.ts';

export interface NodeReporterDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly runtime: ContainerRuntime;
  readonly recorder: EventRecorder;
  readonly ticker: SharedTicker;
  readonly signal: AbortSignal;
  readonly pressure: PressureState;
  /** Why the node is not ready, besides its runtime. */
  problem?(): string | undefined;
  /** The real machine's device plugins. */
  readonly parts?: Pick<NodeParts, 'resources'> | undefined;
}

export interface NodeReporterOptions {
  readonly config: NodeConfig;
  readonly registers: boolean;
  /** The node's status in the API is from this kubelet or its predecessor: it is not reported again. */
  readonly isContinued: boolean;
  readonly reportMs: number;
  /** The interval of runtime health checks. Undefined: only when the node is reported. */
  readonly updateMs?: number | undefined;
}

const RETRY = { initialMs: 100, maxMs: 7000 };

/** Registers the node and keeps its status current: at once on changes, else every few minutes. */
export class NodeReporter {
  #node: core.Node | undefined;
  #reported: core.NodeStatus | undefined;
  #pressureChanges: Disposable | undefined;
  #resourceChanges: Disposable | undefined;
  #pendingWrite: Promise<void> | undefined;
  #isUnschedulable = false;
  #isStale = false;
  #pause: OwnedSignal | undefined;
  #timer: TimerHandle | undefined;

  readonly #health: RuntimeHealth;
  #problems: readonly string[] = [];
  #healthTimer: TimerHandle | undefined;

  constructor(
    private readonly options: NodeReporterOptions,
    private readonly deps: NodeReporterDeps,
  ) {
    this.#health = new RuntimeHealth(deps);
  }

  /** The last known state in the API. */
  get node(): core.Node | undefined {
    return this.#node;
  }

  /** Resolves when the node exists with its status. */
  async start(): Promise<void> {
    const { clock, signal, logger } = this.deps;
    const register = async () => {
      try {
        await this.#register();
      } catch (error) {
        if (!signal.aborted) logger.warn('the node could not be registered', { error });
        throw error;
      }
    };
    await retry({ clock, backoff: RETRY, signal }, register);
    this.#plan();
  }

  /** Continues with an existing node, without waiting for the API. */
  async adopt(node: core.Node): Promise<void> {
    this.#node = node;
    this.#isUnschedulable = node.spec?.unschedulable === true;
    this.#reported = await this.#status(node.status);
    if (isSameStatus(node.status, this.#reported)) this.#plan();
    else this.report();
  }

  stop(): void {
    this.#pressureChanges?.[Symbol.dispose]();
    this.#resourceChanges?.[Symbol.dispose]();
    this.#timer?.cancel();
    this.#healthTimer?.cancel();
  }

  /** The runtime listed its containers. */
  relisted(): void {
    this.#health.relisted();
  }

  /** Why pods have no network, if so. */
  networkProblem(): Promise<string | undefined> {
    return this.#health.networkProblem();
  }

  /** Called on each change of the node in the API. Changes to fields of the kubelet are reverted. */
  observe(node: core.Node): void {
    this.#node = node;
    this.#recordSchedulable(node);
    const isContradicted = (this.#reported?.conditions ?? []).some(
      ({ type, status }) => findCondition(node.status?.conditions, type)?.status !== status,
    );
    if (isContradicted) this.report();
  }

  #recordSchedulable({ spec }: core.Node): void {
    const isUnschedulable = spec?.unschedulable === true;
    if (isUnschedulable === this.#isUnschedulable) return;
    this.#isUnschedulable = isUnschedulable;
    this.#recordState(isUnschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable');
  }

  #recordState(event: string): void {
    const { nodeName } = this.options.config;
    this.deps.recorder.normal(nodeReference(nodeName), event, `Node ${nodeName} status is now: ${event}`);
  }

  /** Writes the status now, or again after the write in progress. */
  report(): void {
    if (this.#reported === undefined) return;
    this.#isStale = true;
    this.#pause?.abort();
    this.#pendingWrite ??= this.#writeAll().finally(() => {
      this.#pendingWrite = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.deps;
    const backoff = new Backoff(RETRY);
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false;
      try {
        await this.#write();
        backoff.reset();
      } catch (error) {
        if (!signal.aborted) await this.#pauseAfter(error, backoff);
      }
    }
    if (!signal.aborted) this.#plan();
  }

  /** A deleted node is no longer reported; other errors are retried with backoff, or earlier on a change. */
  async #pauseAfter(error: unknown, backoff: Backoff): Promise<void> {
    const { clock, signal, logger } = this.deps;
    logger.warn('the status of the node could not be written', { error });
    if (isStatusReason(error, 'NotFound')) return;
    const pause = childSignal(signal);
    this.#pause = pause;
    await clock.sleep(backoff.next(), pause.signal).catch(() => {});
    this.#pause = undefined;
    this.#isStale = true;
  }

  #plan(): void {
    this.#pressureChanges ??= this.deps.pressure.onChange(() => this.report());
    this.#resourceChanges ??= this.deps.parts?.resources.onChange(() => this.report());
    this.#timer?.cancel();
    this.#timer = this.deps.ticker.after(this.options.reportMs, () => this.report());
    this.#planHealthCheck();
  }

  #planHealthCheck(): void {
    const { updateMs } = this.options;
    if (updateMs === undefined || this.deps.signal.aborted) return;
    this.#healthTimer?.cancel();
    this.#healthTimer = this.deps.ticker.after(updateMs, () => void this.#checkHealth());
  }

  /** Reports at once when the runtime becomes unhealthy or healthy. Never rejects. */
  async #checkHealth(): Promise<void> {
    const { problems } = await this.#health.read().catch(() => ({ problems: this.#problems }));
    if (this.deps.signal.aborted) return;
    if (problems.join() === this.#problems.join()) this.#planHealthCheck();
    else this.report();
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
    this.#recordSchedulable(this.#node);
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
    const { clock } = this.deps;
    const { version, images, status, problems: ofRuntime } = await this.#health.read();
    const own = this.deps.problem?.();
    const problems = own === undefined ? ofRuntime : [...ofRuntime, own];
    this.#problems = ofRuntime;
    const facts = {
      config: this.options.config,
      runtimeVersion: version,
      runtime: status,
      problems,
      pressure: this.deps.pressure.value,
      extended: this.deps.parts?.resources.devices.nodeResources,
    };
    return nodeStatus({ ...facts, images, nowMs: clock.now() }, previous);
  }

  async #write(): Promise<void> {
    const { client } = this.deps;
    const { nodeName } = this.options.config;
    const before = this.#node?.status;
    const status = await this.#status(before);
    const isFirst = this.#reported === undefined;
    if (!isFirst || !isSameStatus(before, status)) {
      this.#node = await client
        .of(core.Node)
        .patch({ name: nodeName }, { status: statusPatch(status) }, { type: 'strategic', subresource: 'status' });
    }
    if (isFirst) this.#recordReboot(before?.nodeInfo?.bootID, status.nodeInfo?.bootID);
    this.#recordConditionChanges(
      (this.#reported ?? (this.options.isContinued ? before : undefined))?.conditions ?? [],
      status.conditions ?? [],
    );
    this.#reported = status;
  }

  #recordReboot(before = '', after = ''): void {
    const { nodeName } = this.options.config;
    if (before === '' || before === after) return;
    this.deps.recorder.warning(nodeReference(nodeName), 'Rebooted', `Node ${nodeName} has been rebooted, boot id: ${after}`);
  }

  #recordConditionChanges(before: readonly core.NodeCondition[], after: readonly core.NodeCondition[]): void {
    for (const condition of after) {
      if (findCondition(before, condition.type)?.status !== condition.status) this.#recordState(conditionEvent(condition));
    }
  }
}

/** Addresses merge by type, of which a dual-stack node has two: they are replaced as a whole. */
function statusPatch({ addresses = [], ...status }: core.NodeStatus): JsonObject {
  return { ...status, addresses: [{ $patch: 'replace' }, ...addresses] } as unknown as JsonObject;
}

function isSameStatus(before: core.NodeStatus | undefined, after: core.NodeStatus): boolean {
  return (after.conditions ?? []).every((condition) => {
    const old = findCondition(before?.conditions, condition.type);
    return old?.status === condition.status && old.reason === condition.reason && old.lastHeartbeatTime === condition.lastHeartbeatTime;
  });
}
