import { core } from '#api';
import { type LocalKubelets, type RbacPolicy, reconcileRbac, type UserInfo } from '#apiserver';
import {
  type Clock,
  type Component,
  type Logger,
  type MetricsRegistry,
  type Random,
  raceAbort,
  runComponent,
  stopAll,
  whenAborted,
} from '#base';
import { type Client, InformerFactory } from '#client';
import {
  type Kubelet,
  type KubeletConfig,
  type MachineFailure,
  RequestLanes,
  SharedTicker,
  SimulatedRuntime,
  sharedNodeFeed,
  startKubelet,
} from '#kubelet';

export interface SimulatedNodesConfig {
  readonly names: readonly string[];
  /** What they have in common. */
  readonly kubelet?: Partial<KubeletConfig>;
  /** They ran in the cluster that this one goes on from. */
  readonly areContinued?: boolean;
  /** What had befallen some of them there, by name. */
  readonly failures?: ReadonlyMap<string, MachineFailure>;
}

export interface SimulatedNodesDeps {
  /** The API server's way to them, without a network. */
  readonly kubelets: LocalKubelets;
  readonly clientAs: (user: UserInfo, userAgent?: string) => Client;
  /** Gives the nodes' common watcher the rights it needs. */
  readonly administrator: Client;
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

const WATCHER = 'system:sampan:node-watcher';

/** A node's own identity sees only what concerns it; the watch that nodes share sees the pods and nodes of all of them, and nothing else. */
const WATCHER_POLICY: RbacPolicy = {
  clusterRoles: [{ metadata: { name: WATCHER }, rules: [{ apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['list', 'watch'] }] }],
  clusterRoleBindings: [
    {
      metadata: { name: WATCHER },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: WATCHER },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: WATCHER }],
    },
  ],
  roles: [],
  roleBindings: [],
};

/** Nodes whose containers are simulated, all in this process: they share their watches and wake up together, and each is itself to the API. */
export function startSimulatedNodes(config: SimulatedNodesConfig, deps: SimulatedNodesDeps, signal?: AbortSignal): SimulatedNodes {
  const { clientAs, clock, random, logger } = deps;
  const kubelets = new Map<string, Kubelet>();
  const informers = new InformerFactory(clientAs({ name: WATCHER, groups: ['system:authenticated'] }, 'kubelet'), {
    clock,
    random,
    logger,
  });
  const podSource = sharedNodeFeed(informers.of(core.Pod), informers.of(core.Node));
  const ticker = new SharedTicker(clock);
  const lanes = new RequestLanes();
  const ending = new AbortController();
  let watching: Promise<void> | undefined;
  /** Only a cluster with nodes has their watcher, and its role. */
  const watch = async () => {
    // Nodes that go on had their watcher before.
    if (!config.areContinued || config.names.length === 0) await reconcileRbac(deps.administrator, WATCHER_POLICY, logger);
    ending.signal.throwIfAborted();
    informers.start(ending.signal);
  };
  const start = async (nodeName: string, before: Pick<KubeletConfig, 'isContinued' | 'failure'> = {}): Promise<Kubelet> => {
    watching ??= watch();
    await watching;
    ending.signal.throwIfAborted();
    const client = clientAs({ name: `system:node:${nodeName}`, groups: ['system:nodes', 'system:authenticated'] }, 'kubelet');
    const kubelet = startKubelet(
      { ...config.kubelet, ...before, nodeName },
      { ...deps, client, runtime: new SimulatedRuntime({}, deps), podSource, ticker, lanes },
    );
    kubelets.set(nodeName, kubelet);
    deps.kubelets.add(nodeName, (call) => kubelet.handle(call));
    await kubelet.ready;
    return kubelet;
  };
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    try {
      await raceAbort(Promise.all(config.names.map((name) => start(name, stateOf(name, config)))), stopping);
      ready();
      await whenAborted(stopping);
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

function stateOf(name: string, { areContinued = false, failures }: SimulatedNodesConfig): Pick<KubeletConfig, 'isContinued' | 'failure'> {
  const failure = failures?.get(name);
  return { isContinued: areContinued, ...(failure && { failure }) };
}
