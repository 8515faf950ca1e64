import { coordination, core } from '#api';
import { isPromise, type MaybePromise, mapMaybePromise, repeat } from '#base';
import { type EventRecorder, type EventTarget, type Lister, Quarantine } from '#client';
import { findCondition, formatTime, isStatusReason } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { podsByNode } from '../runtime/pod-state.ts';
import { updateWithRetry } from '../runtime/update-with-retry.ts';
import {
  annotatedNode,
  evaluateHealth,
  hasTaint,
  NOT_READY,
  type NodeHealth,
  swapTaints,
  UNREACHABLE,
  type ZoneState,
  zoneOf,
  zoneRate,
  zoneState,
} from './reconcile.ts';
import { ZoneEvictions } from './zone-evictions.ts';

/** Detects unreachable nodes and taints them, so that no pods are scheduled there and running ones are evicted. */
export const nodeLifecycleController: Controller = {
  name: 'node-lifecycle-controller',
  aliases: ['nodelifecycle'],
  enabledByDefault: true,
  start: (context) => new NodeLifecycleController(context),
};

const EXCLUDE_DISRUPTION = 'node.kubernetes.io/exclude-disruption';
const WORKERS = 8;

interface Zone {
  readonly evictions: ZoneEvictions;
  state: ZoneState;
}

class NodeLifecycleController implements RunningController {
  readonly #events: EventRecorder;
  readonly #quarantine: Quarantine;
  readonly #nodes: Lister<core.Node>;
  readonly #leases: Lister<coordination.Lease>;
  readonly #podsOn: (node: string) => readonly core.Pod[];
  readonly #keyed: KeyedController;
  readonly #registered = new Map<string, core.Node>();
  readonly #health = new Map<string, NodeHealth>();
  readonly #zones = new Map<string, Zone>();
  /** Nodes whose pods may still be marked ready although the node is not. */
  readonly #unmarked = new Set<string>();

  constructor(private readonly context: ControllerContext) {
    const { informers } = context;
    this.#events = context.recorder('node-controller');
    this.#quarantine = new Quarantine('node-lifecycle-controller health', { ...context, recorder: this.#events });
    const nodes = informers.of(core.Node);
    this.#nodes = nodes.lister;
    this.#leases = informers.of(coordination.Lease, { namespace: 'kube-node-lease' }).lister;
    const pods = informers.of(core.Pod);
    this.#podsOn = podsByNode(pods);
    this.#keyed = new KeyedController(context, {
      name: 'node_lifecycle_controller',
      concurrency: WORKERS,
      isExpected: isGone,
      objects: nodes.lister,
      sync: (name) => this.#annotate(name),
    });
    pods.addHandler({
      add: (pod) => this.#podPlaced(pod),
      update: (before, pod) => {
        if (before.spec?.nodeName !== pod.spec?.nodeName) this.#podPlaced(pod);
      },
    });
    nodes.addHandler({ add: (node) => this.#keyed.enqueue(node), update: (_, node) => this.#keyed.enqueue(node) });
  }

  async run(): Promise<void> {
    const { clock, signal, options, logger } = this.context;
    const onError = (error: unknown) => logger.error('checking the health of nodes failed', { error });
    const monitoring = repeat({ clock, signal, intervalMs: options.nodeMonitorPeriodMs, onError }, () => this.#monitor());
    await Promise.all([monitoring, this.#keyed.run()]);
    for (const { evictions } of this.#zones.values()) evictions.stop();
  }

  /** Taints for the scheduler, and labels, follow a node's conditions at once. */
  async #annotate(name: string): Promise<void> {
    const node = this.#nodes.get({ name });
    if (node !== undefined) await this.#change(node, (current) => annotatedNode(current, this.context.clock.now()));
  }

  /** The next check of its node decides whether the pod can be ready. */
  #podPlaced({ spec }: core.Pod): void {
    if (spec?.nodeName) this.#unmarked.add(spec.nodeName);
  }

  async #change(node: core.Node, change: (node: core.Node) => core.Node): Promise<core.Node> {
    const { client, clock, random } = this.context;
    return updateWithRetry(client.of(core.Node), { clock, random, key: node.metadata, first: node, change });
  }

  // --- health --------------------------------------------------------------------------------------------------------

  async #monitor(): Promise<void> {
    const nodes = this.#nodes.list();
    this.#forgetRemoved(nodes);
    const statuses = new Map<string, (string | undefined)[]>();
    const note = (node: core.Node, status: string | undefined) => {
      if (status === 'skipped' || node.metadata.labels?.[EXCLUDE_DISRUPTION] !== undefined) return;
      const zone = zoneOf(node);
      const zoneStatuses = statuses.get(zone);
      if (zoneStatuses === undefined) statuses.set(zone, [status]);
      else zoneStatuses.push(status);
    };
    await this.#forEach(nodes, (node) => mapMaybePromise(this.#check(node), (status) => note(node, status)));
    await this.#handleDisruption(statuses, nodes);
    for (const { evictions } of this.#zones.values()) evictions.start();
  }

  /** Runs `work` for every node; a failing node is quarantined and does not stop the pass. */
  async #forEach(nodes: readonly core.Node[], work: (node: core.Node) => MaybePromise<void>): Promise<void> {
    const pending: Promise<void>[] = [];
    for (const node of nodes) {
      const result = this.#quarantine.contain(
        node.metadata.name,
        () => work(node),
        () => nodeReference(node),
      );
      if (isPromise(result)) pending.push(result as Promise<void>);
    }
    await Promise.all(pending);
  }

  /** The status of the Ready condition; 'skipped' if the node could not be written. */
  #check(node: core.Node): MaybePromise<string | undefined> {
    this.#zoneFor(node);
    if (!this.#registered.has(node.metadata.name)) return this.#register(node);
    return this.#recordIfHealthy(node) ? 'True' : this.#checkNode(node);
  }

  async #register(node: core.Node): Promise<string | undefined> {
    const { name } = node.metadata;
    this.#registered.set(name, node);
    this.#recordEvent(node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
    await this.#markReachable(node);
    return this.#recordIfHealthy(node) ? 'True' : this.#checkNode(node);
  }

  #forgetRemoved(nodes: readonly core.Node[]): void {
    const present = new Set(nodes.map(({ metadata }) => metadata.name));
    for (const [name, node] of this.#registered) {
      if (present.has(name)) continue;
      this.#registered.delete(name);
      this.#health.delete(name);
      this.#quarantine.succeeded(name);
      this.#recordEvent(node, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
    }
  }

  #recordEvent(node: core.Node, reason: string, message: string): void {
    this.#events.normal(nodeReference(node), reason, message);
  }

  #zoneFor(node: core.Node): Zone {
    const name = zoneOf(node);
    const current = this.#zones.get(name);
    if (current !== undefined) return current;
    const { clock, options } = this.context;
    const evictions = new ZoneEvictions(clock, options.nodeEvictionRate, (evicted) => this.#evict(evicted));
    const zone: Zone = { evictions, state: 'Initial' };
    this.#zones.set(name, zone);
    return zone;
  }

  /** The usual case, a ready node without taints: records its health without a write. False for others. */
  #recordIfHealthy(node: core.Node): boolean {
    if (findCondition(node.status?.conditions, 'Ready')?.status !== 'True' || (node.spec?.taints?.length ?? 0) > 0) return false;
    const { health, node: evaluated } = this.#evaluate(node);
    if (evaluated !== node) return false;
    const { name } = node.metadata;
    this.#health.set(name, health);
    this.#zoneFor(node).evictions.remove(name);
    this.#unmarked.delete(name);
    return true;
  }

  #evaluate(node: core.Node) {
    const { options, clock } = this.context;
    const { name } = node.metadata;
    const lease = this.#leases.get({ name, namespace: 'kube-node-lease' });
    const periods = { startupGraceMs: options.nodeStartupGracePeriodMs, graceMs: options.nodeMonitorGracePeriodMs };
    return evaluateHealth({ node, lease, saved: this.#health.get(name), now: clock.now(), ...periods });
  }

  /** The status of the Ready condition after processing it; 'skipped' if the node could not be written. */
  async #checkNode(observed: core.Node): Promise<string | undefined> {
    const before = findCondition(observed.status?.conditions, 'Ready')?.status ?? 'Unknown';
    const node = await this.#updateHealth(observed);
    if (node === undefined) return 'skipped';
    const status = findCondition(node.status?.conditions, 'Ready')?.status;
    if (status === undefined) return undefined;
    await this.#prepareEviction(node, status);
    const { name } = node.metadata;
    const isNews = status !== 'True' && before === 'True';
    if (isNews) this.#recordEvent(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    if (isNews || (this.#unmarked.has(name) && before !== 'True')) await this.#markPodsNotReady(name);
    else this.#unmarked.delete(name);
    return status;
  }

  async #updateHealth(observed: core.Node): Promise<core.Node | undefined> {
    const { client, logger } = this.context;
    const { name } = observed.metadata;
    const { health, node } = this.#evaluate(observed);
    this.#health.set(name, health);
    if (node === observed) return node;
    try {
      return await client.of(core.Node).updateStatus(node);
    } catch (error) {
      if (!isStatusReason(error, 'Conflict') && !isGone(error)) logger.error('cannot update the health of a node', { node: name, error });
      return undefined;
    }
  }

  /** Switching between NotReady and Unreachable replaces the taint at once; a new taint waits for the rate limiter. */
  async #prepareEviction(node: core.Node, status: string): Promise<void> {
    if (status === 'True') {
      await this.#markReachable(node);
      return;
    }
    const [taint, opposite] = status === 'False' ? [NOT_READY, UNREACHABLE] : [UNREACHABLE, NOT_READY];
    if (hasTaint(node, opposite!)) await this.#swap(node, [taint!], [opposite!]);
    else if (!hasTaint(node, taint!)) this.#zoneFor(node).evictions.add(node.metadata.name);
  }

  async #markReachable(node: core.Node): Promise<void> {
    this.#zoneFor(node).evictions.remove(node.metadata.name);
    if (hasTaint(node, NOT_READY) || hasTaint(node, UNREACHABLE)) await this.#swap(node, [], [NOT_READY, UNREACHABLE]);
  }

  #evict(name: string): void {
    void this.#quarantine.contain(name, () => this.#taint(name));
  }

  async #taint(name: string): Promise<void> {
    const node = this.#nodes.get({ name });
    const status = findCondition(node?.status?.conditions, 'Ready')?.status;
    if (node === undefined || status === undefined || status === 'True') return;
    const [taint, opposite] = status === 'False' ? [NOT_READY, UNREACHABLE] : [UNREACHABLE, NOT_READY];
    await this.#swap(node, [taint!], [opposite!]);
  }

  async #swap(node: core.Node, add: readonly core.Taint[], remove: readonly core.Taint[]): Promise<void> {
    const { clock, logger, signal } = this.context;
    const timeAdded = formatTime(clock.now());
    const added = add.map((taint) => ({ ...taint, timeAdded }));
    try {
      await this.#change(node, (current) => swapTaints(current, added, remove));
    } catch (error) {
      // The next pass retries with the node's current state.
      if (!isGone(error) && !signal.aborted) logger.warn('cannot change the taints of a node', { node: node.metadata.name, error });
    }
  }

  /** The kubelet of an unreachable node cannot mark its pods. */
  async #markPodsNotReady(name: string): Promise<void> {
    const { client, clock, logger } = this.context;
    const lastTransitionTime = formatTime(clock.now());
    this.#unmarked.delete(name);
    for (const pod of this.#podsOn(name)) {
      const ready = findCondition(pod.status?.conditions, 'Ready');
      if (ready === undefined || ready.status === 'False') continue;
      const conditions = (pod.status?.conditions ?? []).map((condition) =>
        condition === ready ? { ...condition, status: 'False', lastTransitionTime } : condition,
      );
      try {
        await client.of(core.Pod).updateStatus({ ...pod, status: { ...pod.status, conditions } });
      } catch (error) {
        if (isGone(error)) continue;
        this.#unmarked.add(name);
        logger.debug('cannot mark a pod as not ready', { pod: pod.metadata.name, error });
      }
      this.#events.warning(pod, 'NodeNotReady', 'Node is not ready');
    }
  }

  // --- disruption of zones -------------------------------------------------------------------------------------------

  /** If no node is ready the controller is probably partitioned: evictions stop. */
  async #handleDisruption(statuses: ReadonlyMap<string, readonly (string | undefined)[]>, nodes: readonly core.Node[]): Promise<void> {
    const { options, clock } = this.context;
    const states = new Map([...statuses].map(([name, zoneStatuses]) => [name, zoneState(zoneStatuses, options.unhealthyZoneThreshold)]));
    const current = [...this.#zones].filter(([name]) => states.has(name));
    const isAllDisrupted = [...states.values()].every((state) => state === 'FullDisruption');
    const wasAllDisrupted = current.every(([, { state }]) => state === 'FullDisruption');
    if (isAllDisrupted && wasAllDisrupted) return;
    if (isAllDisrupted) {
      await this.#forEach(nodes, (node) => this.#markReachable(node));
      for (const [, zone] of current) {
        zone.evictions.setRate(0);
        zone.state = 'FullDisruption';
      }
      return;
    }
    if (wasAllDisrupted) {
      // Probe times are stale after a full disruption: all nodes get their grace period again.
      const probeTime = clock.now();
      for (const [name, health] of this.#health) this.#health.set(name, { ...health, probeTime });
    }
    for (const [name, zone] of current) {
      const state = states.get(name)!;
      // Evictions were stopped in all zones: those of nodes that are still unreachable continue.
      if (state === zone.state && !wasAllDisrupted) continue;
      zone.evictions.setRate(zoneRate(state, statuses.get(name)?.length ?? 0, options));
      zone.state = state;
    }
  }
}

function nodeReference({ metadata: { name, uid = '' } }: core.Node): EventTarget {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}
