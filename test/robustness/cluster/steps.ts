import { apps, batch, core, discovery, type Kind, policy } from '#api';
import type { Random } from '#base';
import { type Identified, keyOf, type ObjectKey, type ResourceClient } from '#client';
import { isStatusReason, StatusError } from '#machinery';
import { isActive } from './invariants.ts';
import { CALM_NODES, MANAGERS, NODES, SCHEDULERS, type ShakyCluster, STORMY_NODES } from './shaky-cluster.ts';
import { EDITED, GUARDED, LIMITED, RECREATED, STORMY } from './workloads.ts';

/** A random event in the cluster. Returns a description for the failure report. */
type Step = () => Promise<string>;

/** The events and their weights. */
export class Steps {
  /** Lost nodes, which cannot be lost again before they recover. */
  readonly lost = new Set<string>();
  readonly #steps: readonly Step[];

  constructor(
    private readonly cluster: ShakyCluster,
    private readonly random: Random,
  ) {
    const weighted: readonly (readonly [number, Step])[] = [
      [5, () => this.#setImage()],
      [4, () => this.#scale()],
      [2, () => this.#setStrategy()],
      [2, () => this.#pause()],
      [2, () => this.#rollBack()],
      [1, () => this.#editOthers()],
      [4, () => this.#killContainer()],
      [3, () => this.#deletePod()],
      [4, () => this.#loseOrRecoverNode()],
      [1, () => this.#restartKubelet()],
      [4, () => this.#cutWatches()],
      [2, () => this.#isolate()],
      [1, () => this.#restartServer()],
      [4, () => this.#restartCandidate()],
      [4, () => this.#meddle()],
      [4, () => this.#evict()],
      [2, () => this.#drain()],
      [1, () => this.#replaceDeployment()],
    ];
    this.#steps = weighted.flatMap(([weight, step]) => Array<Step>(weight).fill(step));
  }

  async next(): Promise<string> {
    const what = await this.random.pick(this.#steps)();
    const wait = this.random.pick([0, 0, 50, 500, 2000, 5000, 20_000, 60_000]);
    await this.cluster.clock.advance(wait === 0 ? 0 : this.random.int(wait));
    return what;
  }

  /** Everything recovers and stays up. */
  async heal(): Promise<void> {
    const { cluster } = this;
    cluster.network.isShaky = false;
    for (const who of [...NODES, ...MANAGERS, ...SCHEDULERS]) cluster.network.reconnect(who);
    for (const node of this.lost) await cluster.until(cluster.kubelets.get(node)!.recover());
    this.lost.clear();
    for (const name of NODES) await this.#cordon(name, false);
    for (const key of EDITED) await this.#edit(apps.Deployment, key, (current) => withSpec(current, { paused: false }));
    for (const name of ['indexed', 'counted']) {
      await this.#edit(batch.Job, { name, namespace: 'default' }, (current) => withSpec(current, { suspend: false }));
    }
    for (const name of [...MANAGERS, ...SCHEDULERS]) if (!cluster.candidates.has(name)) await cluster.startCandidate(name);
  }

  // --- edits ---------------------------------------------------------------------------------------------------------

  async #setImage(): Promise<string> {
    const key = this.random.pick(EDITED);
    const image = `${key.name}:${this.random.int(4)}`;
    await this.#edit(apps.Deployment, key, (current) => withImage(current, image));
    return `image ${image} for ${key.name}`;
  }

  async #scale(): Promise<string> {
    const key = this.random.pick([...EDITED, { namespace: 'default', name: GUARDED }]);
    // The budget does not apply when replicas are removed.
    if (key.name === GUARDED) {
      await this.#edit(apps.Deployment, key, (current) => withSpec(current, { replicas: Math.min(8, (current.spec?.replicas ?? 0) + 1) }));
      return 'one guarded pod more';
    }
    const replicas = this.random.int(key.name === LIMITED ? 6 : 8);
    await this.#edit(apps.Deployment, key, (current) => withSpec(current, { replicas }));
    return `${replicas} replicas for ${key.name}`;
  }

  async #setStrategy(): Promise<string> {
    const key = this.random.pick(EDITED.filter(({ name }) => name !== RECREATED));
    const maxSurge = this.random.pick([0, 1, 2, '25%', '50%']);
    const maxUnavailable = maxSurge === 0 ? 1 : this.random.pick([0, 1, 2, '25%', '50%']);
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
    await this.#edit(apps.Deployment, key, (current) => withSpec(current, { strategy }));
    return `maxSurge ${maxSurge}, maxUnavailable ${maxUnavailable} for ${key.name}`;
  }

  async #pause(): Promise<string> {
    const key = this.random.pick(EDITED);
    const paused = this.random.int(3) === 0;
    await this.#edit(apps.Deployment, key, (current) => withSpec(current, { paused }));
    return `${paused ? 'pause' : 'resume'} ${key.name}`;
  }

  /** Like `kubectl rollout undo`: the template of an older set. */
  async #rollBack(): Promise<string> {
    const key = this.random.pick(EDITED);
    const { items } = await this.cluster.client.of(apps.ReplicaSet).list({ namespace: key.namespace, labelSelector: `app=${key.name}` });
    const image = items.length === 0 ? undefined : this.random.pick(items).spec?.template?.spec?.containers[0]?.image;
    if (image === undefined) return `nothing to roll back ${key.name} to`;
    await this.#edit(apps.Deployment, key, (current) => withImage(current, image));
    return `roll ${key.name} back to ${image}`;
  }

  async #editOthers(): Promise<string> {
    const namespace = 'default';
    const image = `edited:${this.random.int(3)}`;
    switch (this.random.int(4)) {
      case 0:
        await this.#edit(apps.StatefulSet, { namespace, name: 'db' }, (current) => withImage(current, image));
        return `image ${image} for db`;
      case 1: {
        const replicas = 1 + this.random.int(4);
        await this.#edit(apps.StatefulSet, { namespace, name: 'db' }, (current) => withSpec(current, { replicas }));
        return `${replicas} replicas for db`;
      }
      case 2:
        await this.#edit(apps.DaemonSet, { namespace, name: 'agent' }, (current) => withImage(current, image));
        return `image ${image} for agent`;
      default: {
        const parallelism = 1 + this.random.int(4);
        const name = this.random.pick(['indexed', 'counted']);
        const suspend = this.random.int(4) === 0;
        await this.#edit(batch.Job, { namespace, name }, (current) => withSpec(current, { parallelism, suspend }));
        return `parallelism ${parallelism}, suspend ${suspend} for ${name}`;
      }
    }
  }

  // --- deaths --------------------------------------------------------------------------------------------------------

  async #killContainer(): Promise<string> {
    const node = this.random.pick(STORMY_NODES);
    const runtime = this.cluster.runtimes.get(node)!;
    const running = (await runtime.listContainers()).filter(({ state }) => state === 'running');
    if (running.length === 0) return `nothing to kill on ${node}`;
    const container = this.random.pick(running);
    await runtime.stopContainer(container.id, 0);
    return `kill a container of ${container.labels['io.kubernetes.pod.uid']} on ${node}`;
  }

  async #deletePod(): Promise<string> {
    const pod = await this.#anyPod(({ spec }) => spec?.nodeSelector?.weather === 'storm');
    if (pod === undefined) return 'no pod to delete';
    // Force deletion of a StatefulSet pod gives up the guarantee that it runs only once.
    const mayForce = pod.metadata.labels?.app !== 'db';
    const grace = mayForce && this.random.int(3) === 0 ? { gracePeriodSeconds: 0 } : {};
    await this.#attempt(() => this.cluster.client.of(core.Pod).delete(pod.metadata, grace));
    return `delete ${keyOf(pod)} ${JSON.stringify(grace)}`;
  }

  async #loseOrRecoverNode(): Promise<string> {
    const node = this.random.pick(STORMY_NODES);
    const kubelet = this.cluster.kubelets.get(node)!;
    if (this.lost.delete(node)) {
      await this.cluster.until(kubelet.recover());
      return `${node} is back`;
    }
    // A permanently lost node keeps pods without another node pending for ever.
    if (this.lost.size === STORMY_NODES.length - 1) return 'enough nodes are lost';
    this.lost.add(node);
    if (this.random.int(2) === 0) {
      kubelet.partition();
      return `${node} is cut off`;
    }
    await this.cluster.until(kubelet.crash());
    return `${node} crashes`;
  }

  async #restartKubelet(): Promise<string> {
    const node = this.random.pick(STORMY_NODES);
    if (this.lost.has(node)) return `${node} is away`;
    await this.cluster.until(this.cluster.kubelets.get(node)!.restart());
    return `the kubelet of ${node} restarts`;
  }

  // --- the control plane ---------------------------------------------------------------------------------------------

  async #cutWatches(): Promise<string> {
    const who = this.random.pick([...MANAGERS, ...MANAGERS, ...SCHEDULERS, ...NODES]);
    this.cluster.network.cutWatches(who);
    return `watches of ${who} are cut`;
  }

  /** Sometimes long enough for others to take over. */
  async #isolate(): Promise<string> {
    const who = this.random.pick([...MANAGERS, ...SCHEDULERS]);
    const forMs = this.random.pick([1000, 5000, 30_000]);
    this.cluster.network.cutOff(who);
    await this.cluster.clock.advance(forMs);
    this.cluster.network.reconnect(who);
    await this.#superviseCandidates();
    return `${who} is cut off for ${forMs / 1000} s`;
  }

  /** If the history was compacted meanwhile, resumed watches must list again. */
  async #restartServer(): Promise<string> {
    for (const who of this.random.shuffle([...MANAGERS, ...SCHEDULERS, ...STORMY_NODES]).slice(0, 3)) this.cluster.network.cutWatches(who);
    await this.cluster.clock.advance(this.random.int(500));
    await this.cluster.store.compact(await this.cluster.store.revision());
    await this.cluster.restartServer();
    return 'history is compacted, and the server restarts';
  }

  async #restartCandidate(): Promise<string> {
    const who = this.random.pick([...MANAGERS, ...SCHEDULERS]);
    const isHard = this.random.int(2) === 0;
    // A killed process does not release anything.
    if (isHard) this.cluster.network.cutOff(who);
    await this.cluster.stopCandidate(who);
    await this.cluster.clock.advance(this.random.pick([0, 100, 3000, 25_000]));
    await this.#superviseCandidates();
    return `${who} is ${isHard ? 'killed' : 'stopped'} and started again`;
  }

  async #superviseCandidates(): Promise<void> {
    for (const who of [...MANAGERS, ...SCHEDULERS]) if (!this.cluster.candidates.has(who)) await this.cluster.startCandidate(who);
  }

  // --- other writers -------------------------------------------------------------------------------------------------

  async #meddle(): Promise<string> {
    const { client } = this.cluster;
    const note = { metadata: { annotations: { note: String(this.random.int(1000)) } } };
    switch (this.random.int(6)) {
      case 0:
        await this.#patchAll(client.of(apps.ReplicaSet), note);
        return 'notes on all replica sets';
      case 1:
        await this.#patchAll(client.of(apps.Deployment), note);
        return 'notes on all deployments';
      case 2:
        await this.#patchAll(client.of(policy.PodDisruptionBudget), note);
        await this.#patchAll(client.of(core.Pod), note);
        return 'notes on all pods and budgets';
      case 3: {
        const sets = (await client.of(apps.ReplicaSet).list({ namespace: 'default', labelSelector: `app in (${STORMY},${GUARDED})` }))
          .items;
        const set = this.random.pick(sets);
        await this.#attempt(() => client.of(apps.ReplicaSet).patch(set.metadata, { status: { replicas: 99 } }, { subresource: 'status' }));
        return `a wrong status of ${set.metadata.name}`;
      }
      case 4: {
        const slices = (await client.of(discovery.EndpointSlice).list({ namespace: 'default' })).items;
        if (slices.length === 0) return 'no endpoint slice';
        await this.#attempt(() => client.of(discovery.EndpointSlice).delete(this.random.pick(slices).metadata));
        return 'an endpoint slice is deleted';
      }
      default: {
        const name = this.random.pick(STORMY_NODES);
        await this.#edit(core.Node, { name }, (node) => withSpec(node, { taints: [] }));
        return `the taints of ${name} are taken away`;
      }
    }
  }

  async #patchAll<T extends Identified>(client: ResourceClient<T>, patch: object): Promise<void> {
    const { items } = await client.list({ namespace: 'default' });
    for (const { metadata } of items) await this.#attempt(() => client.patch(metadata, patch));
  }

  async #replaceDeployment(): Promise<string> {
    const client = this.cluster.client.of(apps.Deployment);
    const key = { namespace: 'default', name: STORMY };
    const { spec } = await client.get(key);
    // Pods of a lost node terminate only with it, and block whatever waits for them.
    const policies = ['Background', 'Orphan', ...(this.lost.size === 0 ? ['Foreground' as const] : [])] as const;
    const propagationPolicy = this.random.pick(policies);
    await client.delete(key, { propagationPolicy });
    await this.cluster.waitFor('end of the deployment', async () => {
      const { items } = await client.list({ namespace: 'default' });
      return !items.some(({ metadata }) => metadata.name === STORMY);
    });
    await client.create({ metadata: key, spec: spec! });
    return `${STORMY} is deleted (${propagationPolicy}) and made again`;
  }

  // --- evictions -----------------------------------------------------------------------------------------------------

  async #evict(): Promise<string> {
    const pod = await this.#anyPod(({ metadata }) => [GUARDED, STORMY].includes(metadata.labels?.app ?? ''));
    return pod === undefined ? 'nothing to evict' : this.#evictOne(pod);
  }

  async #evictOne({ metadata }: core.Pod): Promise<string> {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: metadata.name, namespace: metadata.namespace } };
    const refused = await this.#attempt(() => this.cluster.client.of(core.Pod).subresource('eviction').create(metadata, eviction));
    return `evict ${metadata.name}${refused ? `: ${refused}` : ''}`;
  }

  /** Like `kubectl drain`: cordons the node, and evicts until no guarded pod is left, or time is up. */
  async #drain(): Promise<string> {
    const node = this.random.pick(CALM_NODES);
    await this.#cordon(node, true);
    for (let round = 0; round < 4; round++) {
      const { items } = await this.cluster.client.of(core.Pod).list({ namespace: 'default', fieldSelector: `spec.nodeName=${node}` });
      // The other pods are only disturbed by edits.
      const pods = items.filter((pod) => pod.metadata.labels?.app === GUARDED && isActive(pod));
      if (pods.length === 0) break;
      for (const pod of pods) await this.#evictOne(pod);
      await this.cluster.clock.advance(5000);
    }
    await this.#cordon(node, false);
    return `drain ${node}`;
  }

  #cordon(name: string, unschedulable: boolean): Promise<void> {
    return this.#edit(core.Node, { name }, (node) => withSpec(node, { unschedulable }));
  }

  // --- by hand -------------------------------------------------------------------------------------------------------

  async #anyPod(matches: (pod: core.Pod) => boolean): Promise<core.Pod | undefined> {
    const { items } = await this.cluster.client.of(core.Pod).list();
    const pods = items.filter((pod) => isActive(pod) && matches(pod));
    return pods.length === 0 ? undefined : this.random.pick(pods);
  }

  /** The server's error message; any other failure is a fault. */
  async #attempt(call: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await this.cluster.until(call());
      return undefined;
    } catch (error) {
      const isRefusal = error instanceof StatusError && [404, 409, 429].includes(error.code);
      if (!isRefusal) throw error;
      return error.message;
    }
  }

  async #edit<T extends Identified>(kind: Kind<T>, key: ObjectKey, change: (current: T) => T): Promise<void> {
    const client = this.cluster.client.of(kind);
    for (;;) {
      try {
        const current = await client.get(key);
        await client.update(change(current));
        return;
      } catch (error) {
        if (!isStatusReason(error, 'Conflict')) throw error;
      }
    }
  }
}

function withSpec<T extends { readonly spec?: object }>(object: T, spec: Partial<NonNullable<T['spec']>>): T {
  return { ...object, spec: { ...object.spec, ...spec } };
}

interface WithTemplate {
  readonly spec?: { readonly template: core.PodTemplateSpec };
}

function withImage<T extends WithTemplate>(object: T, image: string): T {
  const { template } = object.spec!;
  const containers = [{ ...template.spec!.containers[0]!, image }];
  return { ...object, spec: { ...object.spec, template: { ...template, spec: { ...template.spec, containers } } } };
}
