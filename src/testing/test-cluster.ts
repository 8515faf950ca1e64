import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DEFAULT_SERVICES } from '#apiserver';
import { type Clock, type Logger, realClock, seededRandom, silentLogger, type TimerHandle, VirtualClock } from '#base';
import type { Client, KubeObject } from '#client';
import {
  type Cluster,
  type ClusterDeps,
  renderKubeconfig,
  renewedCertificates,
  simulatedNodes,
  startCluster as startWholeCluster,
  waitForReady,
} from '#cluster';
import type { SimulatedKubelet } from '#kubelet';
import { isJsonObject, type JsonObject, parseDurationMs, parseGroupVersion, parseYamlDocuments } from '#machinery';
import { type MemoryStore, openMemoryStore } from '#store';

export interface TestClusterOptions {
  /** How many nodes, or their names. Default 1: `n1`. */
  readonly nodes?: number | readonly string[];
  /** `virtual`: time moves only when the test says so. Default `real`. */
  readonly clock?: 'virtual' | 'real';
  /** Everything random follows from it: the same seed and the same steps give the same history. Default 1. */
  readonly seed?: number;
  /** As `--controllers`. Default: all. */
  readonly controllers?: readonly string[];
  /** The storage class `standard`, as `sampan up` has it. Default false. */
  readonly storage?: boolean;
  /** Ranges of service addresses, as `--service-cluster-ip-range`: two of different families for dual stack. */
  readonly serviceRanges?: readonly string[];
  readonly logger?: Logger;
}

export interface WaitOptions {
  /** Of the cluster's time. Default '2m'. */
  readonly within?: string;
  /** Named in the error if the condition never holds. */
  readonly what?: string;
}

const STEP_MS = 5;

interface Launch {
  readonly virtual: VirtualClock | undefined;
  readonly store: MemoryStore;
  readonly seed: number;
  readonly inherited?: ClusterDeps['inherited'];
}

/** A whole cluster inside a test: in this process, in memory, with time under the test's control. */
export class TestCluster implements AsyncDisposable {
  readonly client: Client;
  readonly clock: TestClock;
  readonly #cluster: Cluster;
  readonly #store: MemoryStore;
  readonly #options: TestClusterOptions;
  readonly #seed: number;
  #forks = 0;
  #kubeconfig: Promise<string> | undefined;
  #files: string | undefined;

  private constructor(parts: { cluster: Cluster; store: MemoryStore; clock: TestClock; options: TestClusterOptions; seed: number }) {
    this.#cluster = parts.cluster;
    this.#store = parts.store;
    this.clock = parts.clock;
    this.#options = parts.options;
    this.#seed = parts.seed;
    this.client = parts.cluster.client;
  }

  static start(options: TestClusterOptions = {}): Promise<TestCluster> {
    const virtual = options.clock === 'virtual' ? new VirtualClock() : undefined;
    return TestCluster.#launch(options, { virtual, store: openMemoryStore({ clock: virtual ?? realClock }), seed: options.seed ?? 1 });
  }

  static async #launch(options: TestClusterOptions, { virtual, store, seed, inherited }: Launch): Promise<TestCluster> {
    const time: Clock = virtual ?? realClock;
    const controllers = options.controllers === undefined ? {} : { controllerManager: { controllers: options.controllers } };
    const storage = options.storage === true ? { localStorage: {} } : {};
    const { serviceRanges: clusterIpRanges } = options;
    const apiServer = clusterIpRanges === undefined ? {} : { apiServer: { services: { ...DEFAULT_SERVICES, clusterIpRanges } } };
    const config = { nodes: simulatedNodes(nodeNames(options.nodes ?? 1)), ...controllers, ...storage, ...apiServer };
    const deps = { store, clock: time, random: seededRandom(seed), logger: options.logger ?? silentLogger };
    const cluster = startWholeCluster(config, { ...deps, ...(inherited && { inherited }) });
    const clock = new TestClock(virtual);
    try {
      // A fork continues from the state of the original; its controllers and scheduler start before its time advances.
      if (inherited !== undefined) await cluster.ready;
      else await clock.until(cluster.ready.then(() => waitForReady(cluster, config, { clock: time })));
    } catch (error) {
      await clock.until(cluster[Symbol.asyncDispose]().catch(() => {}));
      await store.close();
      throw error;
    }
    return new TestCluster({ cluster, store, clock, options, seed });
  }

  /** Creates or updates what the manifests describe, one after the other, as `kubectl apply` does. */
  async apply(manifests: string): Promise<readonly KubeObject[]> {
    const applied: KubeObject[] = [];
    for (const { value } of parseYamlDocuments(manifests)) {
      if (value === null) continue;
      if (!isJsonObject(value)) throw new Error('a manifest must be an object');
      applied.push(await this.#applyOne(value));
    }
    return applied;
  }

  async #applyOne(manifest: JsonObject): Promise<KubeObject> {
    const { apiVersion, kind, metadata } = manifest as {
      apiVersion?: string;
      kind?: string;
      metadata?: { name?: string; namespace?: string };
    };
    if (!apiVersion || !kind || !metadata?.name) throw new Error('a manifest needs apiVersion, kind and metadata.name');
    const { group, version } = parseGroupVersion(apiVersion);
    const resource = this.#cluster.apiServer.table.findKind(group, version, kind);
    if (resource === undefined) throw new Error(`the cluster knows no ${kind} in ${apiVersion}`);
    const placed = resource.namespaced ? { ...metadata, namespace: metadata.namespace ?? 'default' } : metadata;
    const object = { ...manifest, metadata: placed } as unknown as KubeObject;
    return this.clock.until(this.client.resource(resource).apply(object as never, { fieldManager: 'test', force: true }));
  }

  /** Resolves when `condition` holds, moving virtual time on from event to event. What it throws counts as not yet. */
  async waitFor<T>(
    condition: () => Promise<T | undefined | false> | T | undefined | false,
    { within = '2m', what = 'the condition' }: WaitOptions = {},
  ): Promise<T> {
    const deadline = this.clock.now() + parseDurationMs(within);
    let failure: unknown;
    for (;;) {
      try {
        const value = await this.clock.until(Promise.resolve(condition()));
        if (value !== undefined && value !== false) return value;
      } catch (error) {
        failure = error;
      }
      if (this.clock.now() >= deadline) throw new Error(`${what} did not come true within ${within}`, { cause: failure });
      await this.clock.step(deadline);
    }
  }

  /** The simulated machine of this name, which can be crashed, partitioned and recovered. */
  node(name: string): SimulatedKubelet {
    const kubelet = this.#cluster.nodes.kubelets.get(name);
    if (kubelet === undefined)
      throw new Error(`the cluster has no node ${name}; it has ${[...this.#cluster.nodes.kubelets.keys()].join(', ')}`);
    return kubelet;
  }

  async addNode(name: string): Promise<SimulatedKubelet> {
    return this.clock.until(this.#cluster.nodes.add(name));
  }

  /** An independent cluster that starts with the state of this one. */
  async fork(): Promise<TestCluster> {
    await this.clock.settle();
    const virtual = this.clock.isVirtual ? new VirtualClock({ startMs: this.clock.now() }) : undefined;
    // Of the same moment: nothing may happen in between.
    const [store, inheritance] = [this.#store.fork({ clock: virtual ?? realClock }), this.#cluster.inheritance()];
    const inherited = { ...inheritance, revision: await store.revision() };
    const options = { ...this.#options, nodes: [...this.#cluster.nodes.kubelets.keys()] };
    return TestCluster.#launch(options, { virtual, store, seed: this.#seed + 1000 * ++this.#forks, inherited });
  }

  /** The path of a kubeconfig for kubectl and other programs: from now on the cluster is served over TLS on a port of this machine. */
  kubeconfig(): Promise<string> {
    this.#kubeconfig ??= this.#serve();
    return this.#kubeconfig;
  }

  async #serve(): Promise<string> {
    const random = seededRandom(this.#seed);
    const pki = renewedCertificates({}, { names: { ipAddresses: ['127.0.0.1'] }, now: realClock.now(), random });
    const tls = { cert: pki.serving.certificate, key: pki.serving.key, ca: pki.authority.certificate };
    const port = await this.#cluster.apiServer.listen({ host: '127.0.0.1', port: 0, tls });
    const { certificate: clientCertificate, key: clientKey } = pki.clients.admin;
    const text = renderKubeconfig({
      clusterName: 'test',
      server: `https://127.0.0.1:${port}`,
      caCertificate: pki.authority.certificate,
      clientCertificate,
      clientKey,
    });
    this.#files = await mkdtemp(path.join(os.tmpdir(), 'sampan-test-'));
    const file = path.join(this.#files, 'kubeconfig');
    await writeFile(file, text, { mode: 0o600 });
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clock.until(this.#cluster[Symbol.asyncDispose]());
    await this.#store.close();
    if (this.#files !== undefined) await rm(this.#files, { recursive: true, force: true });
  }
}

function nodeNames(nodes: number | readonly string[]): readonly string[] {
  return typeof nodes === 'number' ? Array.from({ length: nodes }, (_, i) => `n${i + 1}`) : nodes;
}

/** The cluster's time, for the test and for whatever it runs in the cluster. A virtual clock moves by `advance`; with a real one, `advance` waits. */
export class TestClock implements Clock {
  readonly #virtual: VirtualClock | undefined;

  constructor(virtual: VirtualClock | undefined) {
    this.#virtual = virtual;
  }

  get isVirtual(): boolean {
    return this.#virtual !== undefined;
  }

  get #clock(): Clock {
    return this.#virtual ?? realClock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(delayMs: number, fire: () => void): TimerHandle {
    return this.#clock.setTimer(delayMs, fire);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(delayMs, signal);
  }

  /** Lets this much time pass: milliseconds, or text such as `5m` or `1h30m`. */
  async advance(time: number | string): Promise<void> {
    const ms = typeof time === 'number' ? time : parseDurationMs(time);
    await (this.#virtual === undefined ? realClock.sleep(ms) : this.#virtual.advance(ms));
  }

  /** Lets everything that is ready run, without moving time. */
  async settle(): Promise<void> {
    await this.#virtual?.settle();
  }

  /** Advances to the next timer, at most to `deadline`. */
  async step(deadline: number): Promise<void> {
    if (this.#virtual === undefined) return realClock.sleep(STEP_MS);
    await this.#virtual.settle();
    const next = this.#virtual.nextTimerIn ?? Number.POSITIVE_INFINITY;
    await this.#virtual.advance(Math.max(0, Math.min(next, deadline - this.now())));
  }

  /** The outcome of work in the cluster, moving time as far as the work needs it to. */
  async until<T>(work: Promise<T>): Promise<T> {
    if (this.#virtual === undefined) return work;
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    work.then(settle, settle);
    await this.#virtual.settle();
    if (!isSettled) await this.#virtual.runUntil(() => isSettled);
    return work;
  }
}
