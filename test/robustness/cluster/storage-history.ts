import { core, storage } from '#api';
import { type Component, MetricsRegistry, type Random, seededRandom } from '#base';
import { startLocalProvisioner } from '#kubelet';
import { isStatusReason } from '#machinery';
import { supervise } from '../../../src/cluster/supervision/supervise.ts';
import { MANAGERS, NODES, SCHEDULERS, ShakyCluster, STORMY_NODES } from './shaky-cluster.ts';
import { DRIVER, StorageSystem, startSidecars } from './storage-system.ts';

const LIVES = 6;
const STORMY_TICKS = 90;
const PATIENCE_MS = 60 * 60_000;
const POD_UID = 'io.kubernetes.pod.uid';

/**
 * Volumes are created, used by one pod, then by another, and deleted, with faults injected everywhere. Throws with the history when an
 * invariant is violated.
 */
export async function runStorageHistory(seed: string): Promise<void> {
  await using cluster = await ShakyCluster.start(seed);
  const history = new StorageHistory(cluster, seededRandom(`${seed} storage`));
  try {
    await history.run();
  } catch (error) {
    throw new Error(`${(error as Error).message}\nseed: ${seed}\nhistory:\n${history.steps.join('\n')}`, { cause: error });
  } finally {
    await history.stop();
  }
}

/** A volume's life: steps in sequence. */
interface Life {
  readonly claim: string;
  readonly className: string;
  step: number;
}

class StorageHistory {
  readonly steps: string[] = [];
  readonly #system: StorageSystem;
  readonly #parts = new Map<string, Component>();
  /** The uids of pods with a claim. */
  readonly #users = new Map<string, Set<string>>();
  readonly #lives: readonly Life[];

  constructor(
    private readonly cluster: ShakyCluster,
    private readonly random: Random,
  ) {
    this.#system = new StorageSystem(
      random,
      (volume, node) => this.#isUsed(volume, node),
      (volume) => this.#isBound(volume),
    );
    this.#lives = Array.from({ length: LIVES }, (_, i) => ({ claim: `claim-${i}`, className: i % 2 ? 'local' : 'network', step: 0 }));
  }

  async run(): Promise<void> {
    const { cluster } = this;
    const classes = cluster.client.of(storage.StorageClass);
    const local = { metadata: { name: 'local' }, provisioner: 'sampan.dev/local', volumeBindingMode: 'WaitForFirstConsumer' };
    await cluster.until(classes.create(local));
    await cluster.until(classes.create({ metadata: { name: 'network' }, provisioner: DRIVER }));
    for (const name of ['provisioner', 'sidecars']) await this.#startPart(name);
    cluster.network.isShaky = true;
    for (let tick = 0; tick < STORMY_TICKS && !this.#isOver; tick++) {
      await this.#tick();
      if (this.random.float() < 0.25) await this.#fault();
    }
    await this.#calm();
    const deadline = cluster.clock.now() + PATIENCE_MS;
    while (!this.#isOver || (await this.#leftovers()).length > 0) {
      if (cluster.clock.now() > deadline)
        throw new Error(`after an hour: ${(await this.#leftovers()).join(', ')}\n${await this.#explain()}`);
      await this.#tick();
    }
  }

  async stop(): Promise<void> {
    for (const part of this.#parts.values()) await this.cluster.until(part[Symbol.asyncDispose]());
  }

  get #isOver(): boolean {
    return this.#lives.every(({ step }) => step === STEPS.length);
  }

  #tell(text: string): void {
    this.steps.push(`${new Date(this.cluster.clock.now()).toISOString().slice(11, 23)} ${text}`);
  }

  async #tick(): Promise<void> {
    await this.cluster.clock.advance(500 + this.random.int(2000));
    for (const life of this.#lives) await this.#advance(life);
    if (this.#system.faults.length > 0) throw new Error(this.#system.faults.join('\n'));
  }

  async #advance(life: Life): Promise<void> {
    const step = STEPS[life.step];
    if (step === undefined || !(await this.cluster.until(step.isDone(this, life)))) return;
    this.#tell(`${life.claim}: ${step.name}`);
    life.step++;
  }

  claims() {
    return this.cluster.client.of(core.PersistentVolumeClaim);
  }

  pods() {
    return this.cluster.client.of(core.Pod);
  }

  remember(claim: string, { metadata }: core.Pod): void {
    this.#users.set(claim, (this.#users.get(claim) ?? new Set()).add(metadata.uid ?? ''));
  }

  async #startPart(name: string): Promise<void> {
    const deps = this.cluster.depsOf(name);
    const backend = this.#system.localBackend();
    const nodes = { backendOf: () => backend, nodeNames: () => NODES };
    const start = () => (name === 'sidecars' ? startSidecars(this.#system, deps) : startLocalProvisioner(nodes, deps));
    // As in a cluster: a start whose requests are lost is repeated.
    const part = supervise({ name, start }, { ...deps, metrics: new MetricsRegistry() });
    this.#parts.set(name, part);
    await this.cluster.until(part.ready.catch(() => {}));
  }

  async #restartPart(name: string): Promise<void> {
    const part = this.#parts.get(name);
    if (part !== undefined) await this.cluster.until(part[Symbol.asyncDispose]().catch(() => {}));
    this.cluster.network.forget(name);
    await this.#startPart(name);
  }

  async #fault(): Promise<void> {
    const { cluster, random } = this;
    const pick = (names: readonly string[]) => names[random.int(names.length)] ?? '';
    const faults: readonly [string, (peer: string) => Promise<unknown>, readonly string[]][] = [
      ['is killed, and starts again', (peer) => this.#restartCandidate(peer), [...MANAGERS, ...SCHEDULERS]],
      ['is killed, and starts again', (peer) => this.#restartPart(peer), ['provisioner', 'sidecars']],
      ['loses its watches', async (peer) => cluster.network.cutWatches(peer), [...MANAGERS, ...SCHEDULERS, ...NODES, 'provisioner']],
      ['restarts its kubelet', (peer) => cluster.until(this.#kubelet(peer).restart()), STORMY_NODES],
      ['crashes', (peer) => this.#crash(peer), STORMY_NODES],
    ];
    const [what, act, names] = faults[random.int(faults.length)] ?? faults[0] ?? [];
    if (what === undefined || act === undefined) return;
    const peer = pick(names ?? []);
    this.#tell(`${peer} ${what}`);
    await act(peer);
  }

  #kubelet(name: string) {
    const kubelet = this.cluster.kubelets.get(name);
    if (kubelet === undefined) throw new Error(`there is no node ${name}`);
    return kubelet;
  }

  async #restartCandidate(peer: string): Promise<void> {
    this.cluster.network.cutOff(peer);
    await this.cluster.stopCandidate(peer);
    await this.cluster.startCandidate(peer);
  }

  async #crash(peer: string): Promise<void> {
    const kubelet = this.#kubelet(peer);
    if (kubelet.failure !== undefined) return this.cluster.until(kubelet.recover());
    await this.cluster.until(kubelet.crash());
    const since = this.cluster.clock.now();
    while (this.cluster.clock.now() < since + 20_000 + this.random.int(60_000)) await this.#tick();
    await this.cluster.until(kubelet.recover());
  }

  async #calm(): Promise<void> {
    const { cluster } = this;
    cluster.network.isShaky = false;
    for (const peer of [...NODES, ...MANAGERS, ...SCHEDULERS, ...this.#parts.keys()]) cluster.network.reconnect(peer);
    for (const peer of [...MANAGERS, ...SCHEDULERS]) if (!cluster.candidates.has(peer)) await cluster.startCandidate(peer);
    this.#tell('all is calm');
  }

  async #leftovers(): Promise<readonly string[]> {
    const { client } = this.cluster;
    const kinds = [core.Pod, core.PersistentVolumeClaim, core.PersistentVolume, storage.VolumeAttachment] as const;
    const lists = await this.cluster.until(Promise.all(kinds.map((kind) => client.of(kind as typeof core.Pod).list())));
    return [...lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name)), ...this.#system.leftovers];
  }

  /** The pending pods, and the volumes of the nodes' statuses. */
  async #explain(): Promise<string> {
    const { client } = this.cluster;
    const [pods, events, nodes] = await this.cluster.until(
      Promise.all([client.of(core.Pod).list(), client.of(core.Event).list({ namespace: 'default' }), client.of(core.Node).list()]),
    );
    const waiting = pods.items.flatMap(({ metadata, spec, status }) => [
      `${metadata.name} on ${spec?.nodeName}: ${status?.phase}, deleted ${metadata.deletionTimestamp ?? 'never'}`,
      ...events.items
        .filter(({ involvedObject }) => involvedObject.name === metadata.name)
        .map(({ reason, message }) => `  ${reason} ${message}`),
    ]);
    const volumes = nodes.items.map(
      ({ metadata, status }) =>
        `${metadata.name} uses ${status?.volumesInUse?.join() ?? ''}, has ${(status?.volumesAttached ?? []).map(({ name }) => name).join()}`,
    );
    return [...waiting, ...volumes].join('\n');
  }

  async #isUsed(volume: string, node: string): Promise<boolean> {
    const { items } = await this.claims().list({ namespace: 'default' });
    const claim = items.find(({ spec }) => spec?.volumeName === volume)?.metadata.name ?? '';
    const containers = (await this.cluster.runtimes.get(node)?.listContainers()) ?? [];
    return containers.some(({ state, labels }) => state === 'running' && this.#users.get(claim)?.has(labels[POD_UID] ?? '') === true);
  }

  async #isBound(volume: string): Promise<boolean> {
    const { items } = await this.claims().list({ namespace: 'default' });
    return items.some(({ spec }) => spec?.volumeName === volume);
  }
}

interface Step {
  readonly name: string;
  isDone(history: StorageHistory, life: Life): Promise<boolean>;
}

const key = (name: string) => ({ name, namespace: 'default' });
const isGone = (work: Promise<unknown>) =>
  work.then(
    () => false,
    (error: unknown) => isStatusReason(error, 'NotFound'),
  );
const orThere = (error: unknown) => {
  if (!isStatusReason(error, 'AlreadyExists')) throw error;
};

function useBy(prefix: string): readonly Step[] {
  const runs: Step = {
    name: `pod ${prefix} runs`,
    isDone: async (history, { claim }) => {
      const name = `${prefix}-${claim}`;
      await history.pods().create(podOf(name, claim)).catch(orThere);
      const pod = await history.pods().get(key(name));
      history.remember(claim, pod);
      return pod.status?.phase === 'Running';
    },
  };
  return [runs, goneStep(prefix)];
}

function goneStep(prefix: string): Step {
  return {
    name: `pod ${prefix} is gone`,
    isDone: async (history, { claim }) => {
      const name = key(`${prefix}-${claim}`);
      await history
        .pods()
        .delete(name)
        .catch(() => {});
      return isGone(history.pods().get(name));
    },
  };
}

const STEPS: readonly Step[] = [
  {
    name: 'the claim is made',
    isDone: async (history, { claim, className }) => {
      const spec = { accessModes: ['ReadWriteOnce'], storageClassName: className, resources: { requests: { storage: '1Gi' } } };
      await history
        .claims()
        .create({ metadata: key(claim), spec })
        .catch(orThere);
      return true;
    },
  },
  ...useBy('a'),
  { name: 'pod b or c runs', isDone: (history, life) => eitherRuns(history, life) },
  goneStep('b'),
  ...useBy('c'),
  {
    name: 'the claim is gone',
    isDone: async (history, { claim }) => {
      await history
        .claims()
        .delete(key(claim))
        .catch(() => {});
      return isGone(history.claims().get(key(claim)));
    },
  },
];

/** Two pods on any nodes, with a volume that only one node may attach. */
async function eitherRuns(history: StorageHistory, { claim }: Life): Promise<boolean> {
  const phases: (string | undefined)[] = [];
  for (const name of [`b-${claim}`, `c-${claim}`]) {
    await history.pods().create(podOf(name, claim)).catch(orThere);
    const pod = await history.pods().get(key(name));
    history.remember(claim, pod);
    phases.push(pod.status?.phase);
  }
  return phases.includes('Running');
}

function podOf(name: string, claimName: string) {
  const containers = [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName } }];
  // Its node may be lost for a while, which must not remove the attachment.
  const tolerations = [{ operator: 'Exists', effect: 'NoExecute' }];
  return { metadata: key(name), spec: { containers, volumes, tolerations, terminationGracePeriodSeconds: 1 } } as never;
}
