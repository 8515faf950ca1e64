import { core } from '#api';
import type { LocalKubelets, UserInfo } from '#apiserver';
import { type Clock, type Component, type Logger, type MetricsRegistry, type Random, runComponent, stopAll, whenAborted } from '#base';
import { type Client, InformerFactory } from '#client';
import { type Kubelet, type KubeletConfig, SharedTicker, SimulatedRuntime, sharedNodeFeed, startKubelet } from '#kubelet';

export interface SimulatedNodesConfig {
  readonly names: readonly string[];
  /** What they have in common. */
  readonly kubelet?: Partial<KubeletConfig>;
}

export interface SimulatedNodesDeps {
  /** The API server's way to them, without a network. */
  readonly kubelets: LocalKubelets;
  readonly clientAs: (user: UserInfo, userAgent?: string) => Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

export interface SimulatedNodes extends Component {
  readonly kubelets: ReadonlyMap<string, Kubelet>;
  /** Adds a node to the running cluster. */
  add(name: string): Promise<Kubelet>;
}

const WATCHER: UserInfo = { name: 'system:sampan:nodes', groups: ['system:masters', 'system:authenticated'] };

/** Nodes whose containers are simulated, all in this process: they share their watches and wake up together, and each is itself to the API. */
export function startSimulatedNodes(config: SimulatedNodesConfig, deps: SimulatedNodesDeps, signal?: AbortSignal): SimulatedNodes {
  const { clientAs, clock, random, logger } = deps;
  const kubelets = new Map<string, Kubelet>();
  const informers = new InformerFactory(clientAs(WATCHER, 'kubelet'), { clock, random, logger });
  const podSource = sharedNodeFeed(informers.of(core.Pod), informers.of(core.Node));
  const ticker = new SharedTicker(clock);
  const start = (nodeName: string): Kubelet => {
    const client = clientAs({ name: `system:node:${nodeName}`, groups: ['system:nodes', 'system:authenticated'] }, 'kubelet');
    const kubelet = startKubelet(
      { ...config.kubelet, nodeName },
      { ...deps, client, runtime: new SimulatedRuntime({}, deps), podSource, ticker },
    );
    kubelets.set(nodeName, kubelet);
    deps.kubelets.add(nodeName, (call) => kubelet.handle(call));
    return kubelet;
  };
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    informers.start(stopping);
    try {
      for (const name of config.names) start(name);
      await Promise.all([...kubelets.values()].map((kubelet) => kubelet.ready));
      ready();
      await whenAborted(stopping);
    } finally {
      await stopAll([...kubelets.values()]);
      await informers.stop();
    }
  });
  return {
    ready: component.ready,
    done: component.done,
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
    kubelets,
    async add(name) {
      const kubelet = start(name);
      await kubelet.ready;
      return kubelet;
    },
  };
}
