import { coordination, core } from '#api';
import { repeat } from '#base';
import type { EventRecorder, Lister } from '#client';
import { findCondition, formatTime, isStatusReason } from '#machinery';
import type { ControllerContext, RunningController } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { podsByNode } from '../runtime/pod-state.ts';
import { updateWithRetry } from '../runtime/update-with-retry.ts';
import {
  annotatedNode,
  hasTaint,
  judgeHealth,
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

const EXCLUDE_DISRUPTION = 'node.kubernetes.io/exclude-disruption';
const WORKERS = 8;

interface Zone {
  readonly evictions: ZoneEvictions;
  state: ZoneState;
}

export class NodeLifecycleController implements RunningController {
  readonly #events: EventRecorder;
  readonly #nodes: Lister<core.Node>;
  readonly #leases: Lister<coordination.Lease>;
  readonly #podsOn: (node: string) => readonly core.Pod[];
  readonly #keyed: KeyedController;
  readonly #known = new Map<string, core.Node>();
  readonly #health = new Map<string, NodeHealth>();
  readonly #zones = new Map<string, Zone>();
  /** Nodes with pods that may still say that they are ready, though their node is not. */
  readonly #unmarked = new Set<string>();

  constructor(private readonly context: ControllerContext) {
    const { informers } = context;
    this.#events = context.recorder('node-controller');
    const nodes = informers.of(core.Node);
    this.#nodes = nodes.lister;
    this.#leases = informers.of(coordination.Lease, { namespace: 'kube-node-lease' }).lister;
    const pods = informers.of(core.Pod);
    this.#podsOn = podsByNode(pods);
    this.#keyed = new KeyedController(context, {
      name: 'node_lifecycle_controller',
      concurrency: WORKERS,
      isExpected: isGone,
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
    const monitoring = repeat({ clock, signal, intervalMs: options.nodeMonitorPeriodMs }, () =>
      this.#monitor().catch((error: unknown) => {
        if (!signal.aborted) logger.error('cannot look after the health of nodes', { error });
      }),
    );
    await Promise.all([monitoring, this.#keyed.run()]);
    for (const { evictions } of this.#zones.values()) evictions.stop();
  }

  /** Taints for the scheduler, and labels, follow a node's conditions at once. */
  async #annotate(name: string): Promise<void> {
    const node = this.#nodes.get({ name });
    if (node !== undefined) await this.#change(node, (current) => annotatedNode(current, this.context.clock.now()));
  }

  /** The next look at its node tells whether the pod can be ready there. */
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
    await this.#classify(nodes);
    const statuses = new Map<string, (string | undefined)[]>();
    const note = (node: core.Node, status: string | undefined) => {
      if (status === 'skipped' || node.metadata.labels?.[EXCLUDE_DISRUPTION] !== undefined) return;
      const zone = zoneOf(node);
      const found = statuses.get(zone);
      if (found === undefined) statuses.set(zone, [status]);
      else found.push(status);
    };
    const looks: Promise<void>[] = [];
    for (const node of nodes) {
      if (this.#isWell(node)) note(node, 'True');
      else looks.push(this.#look(node).then((status) => note(node, status)));
    }
    await Promise.all(looks);
    await this.#handleDisruption(statuses, nodes);
    for (const { evictions } of this.#zones.values()) evictions.start();
  }

  async #classify(nodes: readonly core.Node[]): Promise<void> {
    const present = new Set(nodes.map(({ metadata }) => metadata.name));
    for (const node of nodes) {
      this.#zoneFor(node);
      if (this.#known.has(node.metadata.name)) continue;
      this.#known.set(node.metadata.name, node);
      this.#tell(node, 'RegisteredNode', `Node ${node.metadata.name} event: Registered Node ${node.metadata.name} in Controller`);
      await this.#markReachable(node);
    }
    for (const [name, node] of this.#known) {
      if (present.has(name)) continue;
      this.#known.delete(name);
      this.#health.delete(name);
      this.#tell(node, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
    }
  }

  #tell({ metadata }: core.Node, reason: string, message: string): void {
    const { name, uid = '' } = metadata;
    this.#events.normal({ apiVersion: 'v1', kind: 'Node', name, uid }, reason, message);
  }

  #zoneFor(node: core.Node): Zone {
    const name = zoneOf(node);
    const known = this.#zones.get(name);
    if (known !== undefined) return known;
    const { clock, options } = this.context;
    const evictions = new ZoneEvictions(clock, options.nodeEvictionRate, (evicted) => void this.#taint(evicted));
    const zone: Zone = { evictions, state: 'Initial' };
    this.#zones.set(name, zone);
    return zone;
  }

  /** Whether a node is ready and has no taints, as most are most of the time: then nothing has to be written. */
  #isWell(node: core.Node): boolean {
    if (findCondition(node.status?.conditions, 'Ready')?.status !== 'True' || (node.spec?.taints?.length ?? 0) > 0) return false;
    const { health, node: judged } = this.#judge(node);
    if (judged !== node) return false;
    const { name } = node.metadata;
    this.#health.set(name, health);
    this.#zoneFor(node).evictions.remove(name);
    this.#unmarked.delete(name);
    return true;
  }

  #judge(node: core.Node) {
    const { options, clock } = this.context;
    const { name } = node.metadata;
    const lease = this.#leases.get({ name, namespace: 'kube-node-lease' });
    const periods = { startupGraceMs: options.nodeStartupGracePeriodMs, graceMs: options.nodeMonitorGracePeriodMs };
    return judgeHealth({ node, lease, saved: this.#health.get(name), now: clock.now(), ...periods });
  }

  /** The status of the node's Ready condition, after what follows from it. 'skipped' when the node could not be written. */
  async #look(observed: core.Node): Promise<string | undefined> {
    const before = findCondition(observed.status?.conditions, 'Ready')?.status ?? 'Unknown';
    const node = await this.#updateHealth(observed);
    if (node === undefined) return 'skipped';
    const status = findCondition(node.status?.conditions, 'Ready')?.status;
    if (status === undefined) return undefined;
    await this.#prepareEviction(node, status);
    const { name } = node.metadata;
    const isNews = status !== 'True' && before === 'True';
    if (isNews) this.#tell(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    if (isNews || (this.#unmarked.has(name) && before !== 'True')) await this.#markPodsNotReady(name);
    else this.#unmarked.delete(name);
    return status;
  }

  async #updateHealth(observed: core.Node): Promise<core.Node | undefined> {
    const { client, logger } = this.context;
    const { name } = observed.metadata;
    const { health, node } = this.#judge(observed);
    this.#health.set(name, health);
    if (node === observed) return node;
    try {
      return await client.of(core.Node).updateStatus(node);
    } catch (error) {
      if (!isStatusReason(error, 'Conflict') && !isGone(error)) logger.error('cannot update the health of a node', { node: name, error });
      return undefined;
    }
  }

  /** A node that changes from one kind of trouble to the other changes its taint at once; a new one waits for its turn. */
  async #prepareEviction(node: core.Node, status: string): Promise<void> {
    if (status === 'True') {
      await this.#markReachable(node);
      return;
    }
    const [wanted, opposite] = status === 'False' ? [NOT_READY, UNREACHABLE] : [UNREACHABLE, NOT_READY];
    if (hasTaint(node, opposite!)) await this.#swap(node, [wanted!], [opposite!]);
    else if (!hasTaint(node, wanted!)) this.#zoneFor(node).evictions.add(node.metadata.name);
  }

  async #markReachable(node: core.Node): Promise<void> {
    this.#zoneFor(node).evictions.remove(node.metadata.name);
    if (hasTaint(node, NOT_READY) || hasTaint(node, UNREACHABLE)) await this.#swap(node, [], [NOT_READY, UNREACHABLE]);
  }

  async #taint(name: string): Promise<void> {
    const node = this.#nodes.get({ name });
    const status = findCondition(node?.status?.conditions, 'Ready')?.status;
    if (node === undefined || status === undefined || status === 'True') return;
    const [wanted, opposite] = status === 'False' ? [NOT_READY, UNREACHABLE] : [UNREACHABLE, NOT_READY];
    await this.#swap(node, [wanted!], [opposite!]);
  }

  async #swap(node: core.Node, add: readonly core.Taint[], remove: readonly core.Taint[]): Promise<void> {
    const { clock, logger, signal } = this.context;
    const timeAdded = formatTime(clock.now());
    const added = add.map((taint) => ({ ...taint, timeAdded }));
    try {
      await this.#change(node, (current) => swapTaints(current, added, remove));
    } catch (error) {
      // The next pass sees the node as it is, and tries again.
      if (!isGone(error) && !signal.aborted) logger.warn('cannot change the taints of a node', { node: node.metadata.name, error });
    }
  }

  /** Nobody on a lost node says so of its pods. */
  async #markPodsNotReady(name: string): Promise<void> {
    const { client, clock, logger } = this.context;
    const lastTransitionTime = formatTime(clock.now());
    this.#unmarked.delete(name);
    for (const pod of this.#podsOn(name)) {
      const ready = findCondition(pod.status?.conditions, 'Ready');
      if (ready === undefined || ready.status === 'False') continue;
      const conditions = (pod.status?.conditions ?? []).map((each) =>
        each === ready ? { ...each, status: 'False', lastTransitionTime } : each,
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

  /** When nothing is ready anywhere, it is more likely that we are cut off than that all nodes failed: evictions stop. */
  async #handleDisruption(statuses: ReadonlyMap<string, readonly (string | undefined)[]>, nodes: readonly core.Node[]): Promise<void> {
    const { options, clock } = this.context;
    const states = new Map([...statuses].map(([name, found]) => [name, zoneState(found, options.unhealthyZoneThreshold)]));
    const current = [...this.#zones].filter(([name]) => states.has(name));
    const isAllDisrupted = [...states.values()].every((state) => state === 'FullDisruption');
    const wasAllDisrupted = current.every(([, { state }]) => state === 'FullDisruption');
    if (isAllDisrupted && wasAllDisrupted) return;
    if (isAllDisrupted) {
      for (const node of nodes) await this.#markReachable(node);
      for (const [, zone] of current) {
        zone.evictions.setRate(0);
        zone.state = 'FullDisruption';
      }
      return;
    }
    if (wasAllDisrupted) {
      // While we were cut off nobody could be heard: all get their grace period again.
      const probeTime = clock.now();
      for (const [name, health] of this.#health) this.#health.set(name, { ...health, probeTime });
    }
    for (const [name, zone] of current) {
      const state = states.get(name)!;
      // While nothing could be heard, evictions stood still in all zones: those that are still lost go on, too.
      if (state === zone.state && !wasAllDisrupted) continue;
      zone.evictions.setRate(zoneRate(state, statuses.get(name)?.length ?? 0, options));
      zone.state = state;
    }
  }
}
