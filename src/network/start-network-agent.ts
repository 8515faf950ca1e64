import path from 'node:path';
import { core } from '#api';
import { type Clock, type Component, KernelNetwork, type Logger, type Random, raceAbort, repeat, runComponent, waitForAbort } from '#base';
import { type Client, InformerFactory } from '#client';
import { formatTime } from '#machinery';
import { AddressPool } from './address-pool.ts';
import { AttachmentStore } from './attachment-store.ts';
import { ChangeSignal } from './change-signal.ts';
import { CniServer } from './cni/cni-server.ts';
import { type CniDirectories, installPlugin, otherConfiguration, removeConfiguration, removePlugin } from './cni/install-plugin.ts';
import { HostNetwork } from './host-network.ts';
import { type Backend, internalAddresses, peerOf } from './node-routes.ts';
import { PodNetwork } from './pod-network.ts';
import { PolicyAgent } from './policy/policy-agent.ts';

export interface NetworkAgentConfig extends CniDirectories {
  readonly nodeName: string;
  /** Persistent state: the addresses of pods. */
  readonly stateDirectory: string;
  /** Default: `cni.sock` in the state directory. */
  readonly socket?: string;
  /** Default: auto. */
  readonly backend?: Backend;
  readonly mtu?: number;
  /** Masquerades pod traffic that leaves the cluster. Default: true. */
  readonly masquerade?: boolean;
  /** Restores the machine's network when stopped. Default: false, so that pods stay reachable. */
  readonly removeOnStop?: boolean;
}

export interface NetworkAgentDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: the network of this process. */
  readonly kernel?: KernelNetwork;
  /** Called with the gateway address of the first family once it is set: pods reach the node there. */
  readonly onGateway?: (address: string) => void;
}

/** How long the plugin retries. The kubelet's sandbox timeout is four minutes. */
const PLUGIN_RETRIES = { attempts: 400, intervalMs: 50 };
const GARBAGE_INTERVAL_MS = 60_000;
const RETRY_MS = 2_000;

/** The node's part of the pod network: serves the CNI plugin and maintains routes to the pods of all nodes. */
export function startNetworkAgent(config: NetworkAgentConfig, deps: NetworkAgentDeps, signal?: AbortSignal): Component {
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    const socket = config.socket ?? path.join(config.stateDirectory, 'cni.sock');
    const other = await otherConfiguration(config);
    if (other !== undefined) {
      deps.logger.info('another network configuration is installed; the pod network is left to it', { file: other });
      await removeConfiguration(config);
      ready();
      return waitForAbort(stopping);
    }
    const agent = new AgentRun(config, deps);
    // A runtime that finds a configuration reports its network as ready: it is written only where the agent can work.
    await agent.check();
    await installPlugin(config, { socket, ...PLUGIN_RETRIES });
    await agent.run(socket, { stopping, ready });
  });
}

class AgentRun {
  readonly #host: HostNetwork;
  readonly #pods: PodNetwork;
  readonly #policies: PolicyAgent;
  readonly #informers: InformerFactory;
  readonly #changes = new ChangeSignal();
  readonly #policyChanges = new ChangeSignal();
  readonly #kernel: KernelNetwork;
  #podCidrs = '';
  #isSetUp = false;

  constructor(
    private readonly config: NetworkAgentConfig,
    private readonly deps: NetworkAgentDeps,
  ) {
    const { logger } = deps;
    const { backend = 'auto', masquerade = true, nodeName, stateDirectory, mtu } = config;
    this.#kernel = deps.kernel ?? new KernelNetwork();
    this.#host = new HostNetwork({ nodeName, stateDirectory, backend, masquerade, mtu }, { kernel: this.#kernel, logger });
    this.#informers = new InformerFactory(deps.client, deps);
    this.#policies = new PolicyAgent(nodeName, {
      ...{ kernel: this.#kernel, logger, informers: this.#informers },
      sleep: (ms) => deps.clock.sleep(ms),
      onChange: () => this.#policyChanges.raise(),
    });
    this.#pods = new PodNetwork({
      kernel: this.#kernel,
      store: new AttachmentStore(path.join(stateDirectory, 'attachments'), logger),
      observers: [this.#host, this.#policies],
      mtu: () => this.#host.mtu,
      logger,
    });
  }

  /** Throws where the machine lacks what the pod network needs. Changes nothing. */
  async check(): Promise<void> {
    await this.#host.checkRules();
    await this.#policies.check();
  }

  async run(socket: string, { stopping, ready }: { stopping: AbortSignal; ready: () => void }): Promise<void> {
    const { clock, logger } = this.deps;
    const informers = this.#informers;
    const nodes = informers.of(core.Node);
    const raise = () => this.#changes.raise();
    nodes.addHandler({ add: raise, update: raise, delete: raise });
    await using server = new CniServer((request) => this.#pods.handle(request), logger);
    try {
      informers.start(stopping);
      await raceAbort(informers.synced(), stopping);
      const sync = () => this.#retryOnError(this.#changes, stopping, () => this.#sync(nodes.lister.list()));
      // Serves requests only after the earlier agent's state is adopted.
      await sync();
      await server.listen(socket);
      ready();
      const onError = (error: unknown) => logger.error('the pod network could not be maintained', { error });
      const always = { clock, intervalMs: 0, signal: stopping, onError };
      await Promise.all([
        repeat({ ...always, intervalMs: GARBAGE_INTERVAL_MS }, () => this.#collectGarbage()),
        repeat(always, () => raceAbort(this.#changes.next(), stopping).then(sync)),
        repeat(always, () => this.#followPolicies(stopping)),
      ]);
    } finally {
      await informers.stop();
      if (this.config.removeOnStop) await this.#remove();
    }
  }

  async #followPolicies(stopping: AbortSignal): Promise<void> {
    await raceAbort(this.#policyChanges.next(), stopping);
    if (this.#isSetUp) await this.#retryOnError(this.#policyChanges, stopping, () => this.#policies.sync());
    else await this.deps.clock.sleep(RETRY_MS, stopping).then(() => this.#policyChanges.raise());
  }

  async #retryOnError(changes: ChangeSignal, stopping: AbortSignal, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.deps.logger.error('updating the pod network failed', { error });
      changes.raise();
      await this.deps.clock.sleep(RETRY_MS, stopping);
    }
  }

  async #collectGarbage(): Promise<void> {
    if (this.#isSetUp) await this.#pods.collectGarbage();
  }

  async #sync(nodes: readonly core.Node[]): Promise<void> {
    const own = nodes.find(({ metadata }) => metadata?.name === this.config.nodeName);
    if (own === undefined) return;
    const { podCidrs } = peerOf(own);
    if (podCidrs.length > 0 && podCidrs.join() !== this.#podCidrs) await this.#setUp(podCidrs);
    if (!this.#isSetUp) return;
    const local = { name: this.config.nodeName, addresses: internalAddresses(own) };
    await this.#host.useNodes(local, nodes.map(peerOf));
    await this.#reportAvailable(own);
  }

  async #setUp(podCidrs: readonly string[]): Promise<void> {
    const pool = new AddressPool(podCidrs);
    const gateways = pool.ranges.map(({ gateway }, i) => ({ podCidr: podCidrs[i]!, address: gateway }));
    await this.#pods.load(pool);
    await this.#host.setUp(gateways, [...this.#pods.attachments]);
    this.#policies.adopt(this.#pods.attachments);
    await this.#policies.sync();
    this.#pods.use(pool);
    await this.#pods.collectGarbage();
    this.#podCidrs = podCidrs.join();
    this.#isSetUp = true;
    this.deps.logger.info('the pod network is ready', { podCidrs });
    this.deps.onGateway?.(gateways[0]!.address);
  }

  /** Cloud providers set NetworkUnavailable until pods are reachable. */
  async #reportAvailable({ status }: core.Node): Promise<void> {
    const before = status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
    if (before?.status === 'False') return;
    const now = formatTime(this.deps.clock.now());
    const condition = {
      type: 'NetworkUnavailable',
      status: 'False',
      reason: 'PodNetworkReady',
      message: 'The pod network of the node is set up',
      lastTransitionTime: now,
      lastHeartbeatTime: now,
    };
    const options = { type: 'strategic', subresource: 'status' } as const;
    await this.deps.client.of(core.Node).patch({ name: this.config.nodeName }, { status: { conditions: [condition] } }, options);
  }

  async #remove(): Promise<void> {
    if (this.#isSetUp) {
      await this.#policies.remove();
      await this.#host.tearDown();
    }
    await removePlugin(this.config);
  }
}
