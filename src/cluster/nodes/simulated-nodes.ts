import { core } from '#api';
import { type LocalKubelets, reconcileRbac, type UserInfo } from '#apiserver';
import {
  type Clock,
  type Component,
  type Logger,
  type MetricsRegistry,
  type Random,
  raceAbort,
  retry,
  runComponent,
  stopAll,
  waitForAbort,
} from '#base';
import { type Client, InformerFactory } from '#client';
import {
  type KubeletConfig,
  type MachineFailure,
  RequestLimits,
  SharedTicker,
  type SimulatedKubelet,
  type SimulatedKubeletConfig,
  SimulatedRuntime,
  sharedNodeFeed,
  startSimulatedKubelet,
} from '#kubelet';
import { componentPolicy } from '../component-policy.ts';

export interface SimulatedNodesConfig {
  readonly names: readonly string[];
  /** Settings of all simulated nodes. */
  readonly kubelet?: Partial<KubeletConfig>;
  /** They continue from the forked cluster. */
  readonly areContinued?: boolean;
  /** Their failures in that cluster, by name. */
  readonly failures?: ReadonlyMap<string, MachineFailure>;
}

export interface SimulatedNodesDeps {
  /** The API server's in-process connection to the kubelets. */
  readonly kubelets: LocalKubelets;
  readonly clientAs: (user: UserInfo, userAgent?: string) => Client;
  /** Creates the RBAC rules of the shared watcher. */
  readonly administrator: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

export interface SimulatedNodes extends Component {
  readonly kubelets: ReadonlyMap<string, SimulatedKubelet>;
  /** Adds a node to the running cluster. */
  add(name: string): Promise<SimulatedKubelet>;
}

const START_BACKOFF = { initialMs: 1000, maxMs: 60_000, jitter: 0.2 };
const WATCHER = 'system:sampan:node-watcher';

/** A node's identity may only read its own objects; the shared watcher reads all pods and nodes, and nothing else. */
const WATCHER_POLICY = componentPolicy({ [WATCHER]: [{ apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['list', 'watch'] }] });

/** Simulated nodes in this process: they share watches and timers, but each has its own identity. */
export function startSimulatedNodes(config: SimulatedNodesConfig, deps: SimulatedNodesDeps, signal?: AbortSignal): SimulatedNodes {
  const { clientAs, clock, random, logger } = deps;
  const kubelets = new Map<string, SimulatedKubelet>();
  const informers = new InformerFactory(clientAs({ name: WATCHER, groups: ['system:authenticated'] }, 'kubelet'), {
    clock,
    random,
    logger,
  });
  const podSource = sharedNodeFeed(informers.of(core.Pod), informers.of(core.Node));
  const ticker = new SharedTicker(clock);
  const requestLimits = new RequestLimits();
  const ending = new AbortController();
  let watcher: Promise<void> | undefined;
  /** The watcher and its role exist only in clusters with simulated nodes. */
  const watch = async () => {
    // Continued nodes already have the watcher's role.
    if (!config.areContinued || config.names.length === 0) await reconcileRbac(deps.administrator, WATCHER_POLICY, logger);
    ending.signal.throwIfAborted();
    informers.start(ending.signal);
  };
  const start = async (
    nodeName: string,
    before: Pick<SimulatedKubeletConfig, 'isContinued' | 'failure'> = {},
  ): Promise<SimulatedKubelet> => {
    watcher ??= watch();
    await watcher;
    ending.signal.throwIfAborted();
    const client = clientAs({ name: `system:node:${nodeName}`, groups: ['system:nodes', 'system:authenticated'] }, 'kubelet');
    const runtime = new SimulatedRuntime({}, deps);
    // A node that fails to start affects neither the other nodes nor the API server.
    return retry({ clock, random, backoff: START_BACKOFF, signal: ending.signal }, async () => {
      const kubelet = startSimulatedKubelet(
        { ...config.kubelet, ...before, nodeName },
        { ...deps, client, runtime, podSource, ticker, requestLimits },
      );
      kubelets.set(nodeName, kubelet);
      deps.kubelets.add(nodeName, (call) => kubelet.handle(call), { isSimulated: true });
      try {
        await kubelet.ready;
      } catch (error) {
        logger.error('a kubelet could not start and will try again', { node: nodeName, error });
        throw error;
      }
      return kubelet;
    });
  };
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    try {
      await raceAbort(Promise.all(config.names.map((name) => start(name, stateOf(name, config)))), stopping);
      ready();
      await waitForAbort(stopping);
    } finally {
      ending.abort();
      await stopAll([...kubelets.values()]);
      await informers.stop();
    }
  });
  return {
    ready: component.ready,
    done: component.done,
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
    kubelets,
    add: (name) => start(name),
  };
}

function stateOf(
  name: string,
  { areContinued = false, failures }: SimulatedNodesConfig,
): Pick<SimulatedKubeletConfig, 'isContinued' | 'failure'> {
  const failure = failures?.get(name);
  return { isContinued: areContinued, ...(failure && { failure }) };
}
