import { core } from '#api';
import { type ApiServer, inProcessTransport, startApiServer } from '#apiserver';
import { type Component, type Logger, MetricsRegistry, type Random, seededRandom, silentLogger, stopAll, VirtualClock } from '#base';
import { Client } from '#client';
import { startControllerManager } from '#controllers';
import { type SimulatedKubelet, SimulatedRuntime, startSimulatedKubelet } from '#kubelet';
import { findCondition } from '#machinery';
import { startScheduler } from '#scheduler';
import { type MemoryStore, openMemoryStore } from '#store';
import { ShakyNetwork } from './shaky-network.ts';

export const CALM_NODES = ['calm1', 'calm2', 'calm3'];
export const STORMY_NODES = ['storm1', 'storm2', 'storm3'];
export const NODES = [...CALM_NODES, ...STORMY_NODES];
/** Two of each, one of which leads. */
export const MANAGERS = ['manager-a', 'manager-b'];
export const SCHEDULERS = ['scheduler-a', 'scheduler-b'];

const MASTERS = ['system:masters', 'system:authenticated'];

/** A cluster whose components can be stopped, partitioned and restarted, on virtual time and with seeded randomness. */
export class ShakyCluster implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly store: MemoryStore;
  readonly network: ShakyNetwork;
  readonly runtimes = new Map<string, SimulatedRuntime>();
  readonly kubelets = new Map<string, SimulatedKubelet>();
  /** Running managers and schedulers. */
  readonly candidates = new Map<string, Component>();
  /** The test's own client, without network faults. */
  readonly client: Client;
  readonly logger: Logger;
  #server: ApiServer;

  private constructor(seed: string, logger: Logger) {
    this.random = seededRandom(`${seed} cluster`);
    this.logger = logger;
    this.network = new ShakyNetwork({ clock: this.clock, random: seededRandom(`${seed} network`) });
    this.store = openMemoryStore({ clock: this.clock, historyWindowMs: Number.POSITIVE_INFINITY });
    this.#server = this.#startServer();
    this.client = new Client(this.#transport('admin', 'kubectl'));
  }

  static async start(seed: string, logger: Logger = silentLogger): Promise<ShakyCluster> {
    const cluster = new ShakyCluster(seed, logger);
    await cluster.until(cluster.#server.ready);
    for (const name of [...MANAGERS, ...SCHEDULERS]) await cluster.startCandidate(name);
    for (const name of NODES) await cluster.#startNode(name);
    await cluster.waitFor('ready nodes', () => cluster.#hasReadyNodes());
    return cluster;
  }

  get #deps() {
    const { clock, random, logger } = this;
    return { clock, random, logger, metrics: new MetricsRegistry() };
  }

  #startServer(): ApiServer {
    const config = { version: { major: '1', minor: '36' }, anonymousAuth: false };
    return startApiServer(config, { ...this.#deps, store: this.store });
  }

  /** All watches end, and their resumed ones find that the history was compacted. */
  async restartServer(): Promise<void> {
    const before = this.#server;
    this.#server = this.#startServer();
    await this.until(this.#server.ready);
    await this.until(before[Symbol.asyncDispose]());
  }

  #transport(name: string, userAgent: string) {
    const { clock } = this;
    return inProcessTransport((request) => this.#server.handle(request), { name, groups: MASTERS }, { clock, userAgent });
  }

  #linkedClient(peer: string, user: string, userAgent: string): Client {
    return new Client(this.network.link(peer, this.#transport(user, userAgent)));
  }

  /** The dependencies of a component outside the cluster, over the same network. */
  depsOf(peer: string) {
    return { ...this.#deps, client: this.#linkedClient(peer, `system:${peer}`, peer) };
  }

  async startCandidate(identity: string): Promise<void> {
    const isManager = MANAGERS.includes(identity);
    const name = isManager ? 'kube-controller-manager' : 'kube-scheduler';
    const client = this.#linkedClient(identity, `system:${name}`, name);
    const leaderElection = { lease: { name, namespace: 'kube-system' }, identity, releaseOnStop: this.random.int(2) === 0 };
    const deps = { ...this.#deps, client };
    const options = { namespaceDeletionGracePeriodMs: 0, clusterCidrs: ['10.244.0.0/16'] };
    const component = isManager ? startControllerManager({ leaderElection, options }, deps) : startScheduler({ leaderElection }, deps);
    this.candidates.set(identity, component);
    // A component that loses its lease exits, and is restarted.
    const ended = () => this.candidates.get(identity) === component && this.candidates.delete(identity) && this.network.forget(identity);
    component.done.then(ended, ended);
    await this.until(component.ready);
  }

  async stopCandidate(identity: string): Promise<void> {
    const component = this.candidates.get(identity);
    if (component === undefined) return;
    this.candidates.delete(identity);
    await this.until(component[Symbol.asyncDispose]().catch(() => {}));
    this.network.forget(identity);
  }

  async #startNode(nodeName: string): Promise<void> {
    const runtime = new SimulatedRuntime({}, this.#deps);
    const weather = CALM_NODES.includes(nodeName) ? 'calm' : 'storm';
    const client = this.#linkedClient(nodeName, `system:node:${nodeName}`, 'kubelet');
    const config = { nodeName, nodeLabels: { weather }, nodeIps: [`192.0.2.${NODES.indexOf(nodeName) + 1}`] };
    const kubelet = startSimulatedKubelet(config, { ...this.#deps, client, runtime });
    this.runtimes.set(nodeName, runtime);
    this.kubelets.set(nodeName, kubelet);
    await this.until(kubelet.ready);
  }

  async #hasReadyNodes(): Promise<boolean> {
    const { items } = await this.client.of(core.Node).list();
    const isReady = ({ status, spec }: core.Node) => findCondition(status?.conditions, 'Ready')?.status === 'True' && !spec?.taints?.length;
    return items.filter(isReady).length === NODES.length;
  }

  /** The result of work in the cluster; advances time as far as needed. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    work.then(settle, settle);
    await this.clock.settle();
    if (!isSettled) await this.clock.runUntil(() => isSettled);
    return work;
  }

  async waitFor(what: string, condition: () => Promise<boolean>): Promise<void> {
    const deadline = this.clock.now() + 3_600_000;
    while (!(await this.until(condition()))) {
      if (this.clock.now() > deadline) throw new Error(`no ${what} within an hour`);
      await this.clock.advance(1000);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.network.isShaky = false;
    for (const peer of [...NODES, ...this.candidates.keys()]) this.network.reconnect(peer);
    await this.until(stopAll([this.#server, ...this.kubelets.values(), ...this.candidates.values()]));
    await this.store.close();
  }
}
