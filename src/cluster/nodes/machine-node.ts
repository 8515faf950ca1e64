import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { LocalKubelets } from '#apiserver';
import { type Component, raceAbort, runComponent, stopAll, waitForAbort } from '#base';
import {
  type CsiDriver,
  DEFAULT_EVICTION_HARD,
  GrpcRuntime,
  type Kubelet,
  type KubeletCall,
  type KubeletConfig,
  startLinuxKubelet,
  startPrivateContainerd,
  streamingUrlClient,
} from '#kubelet';
import { startDriverController } from '../csi-controllers.ts';
import type { ClusterCertificates } from '../pki/pki.ts';
import { supervise } from '../supervision/supervise.ts';
import { cgroupRootOf } from './choose-runtime.ts';
import { machineAddresses } from './machine-addresses.ts';
import { CLUSTER_DOMAIN, type MachineNetworkDeps, machineNetwork, type NetworkSettings } from './machine-network.ts';
import { type MachineServer, startMachineServer } from './machine-server.ts';
import type { MachineNode } from './node-specification.ts';

/** Settings of all machine nodes. */
export interface MachineNodeSettings {
  readonly kubelet?: Partial<KubeletConfig>;
  readonly network?: NetworkSettings;
}

export interface MachineNodeDeps extends MachineNetworkDeps {
  /** The API server's in-process connection to the kubelet. */
  readonly kubelets: LocalKubelets;
  /** Absent: the cluster is in this process alone, and so are its kubelets. */
  readonly certificates?: (() => ClusterCertificates) | undefined;
}

/**
 * This machine as a node: its runtime, the pod network if the runtime is private, and the kubelet. Each is restarted on
 * failure. They stop in reverse order, so that pods terminate while the network can still release their addresses.
 */
export function startMachineNode(node: MachineNode, settings: MachineNodeSettings, deps: MachineNodeDeps): Component {
  return runComponent(undefined, async ({ signal: stopping, ready }) => {
    const parts: Component[] = [];
    const begin = (part: Component) => {
      parts.push(part);
      return raceAbort(part.ready, stopping);
    };
    const { runtime } = node;
    using cri = new GrpcRuntime({ endpoint: runtime.endpoint }, { ...deps, streaming: streamingUrlClient(deps) });
    try {
      // The network stops last: it releases the addresses of stopped pods.
      const network = (await machineNetwork(node, settings.network ?? {}, deps)).map(begin);
      if (runtime.type === 'containerd') await Promise.all([...network, begin(startPrivateContainerd(runtime.containerd, deps))]);
      await Promise.all(network);
      await mkdir(kubeletDirectory(node), { recursive: true, mode: 0o750 });
      const kubelet = kubeletOf(node, settings.kubelet ?? {}, { ...deps, cri });
      const server = kubelet.serve();
      if (server !== undefined) await begin(server);
      await begin(kubelet.start(server?.port));
      ready();
      await waitForAbort(stopping);
    } finally {
      await stopAll(parts);
    }
  });
}

/**
 * The cluster shares the machine's disk, and loaded images cannot be pulled again: a disk filled by
 * others must not evict pods or remove images.
 */
const SHARED_DISK = {
  evictionHard: {
    ...DEFAULT_EVICTION_HARD,
    'nodefs.available': '0%',
    'nodefs.inodesFree': '0%',
    'imagefs.available': '0%',
    'imagefs.inodesFree': '0%',
  },
  imageGCHighThresholdPercent: 100,
};

function kubeletDirectory({ directory }: MachineNode): string {
  return path.join(directory, 'kubelet');
}

interface MachineKubelet {
  /** Its server on the network; undefined if it has none. */
  serve(): MachineServer | undefined;
  /** `port`: that of the server. */
  start(port: number | undefined): Component;
}

function kubeletOf(
  node: MachineNode,
  inCommon: Partial<KubeletConfig>,
  deps: MachineNodeDeps & { readonly cri: GrpcRuntime },
): MachineKubelet {
  const { kubelets, clientAs, cri, certificates } = deps;
  const client = clientAs({ name: `system:node:${node.name}`, groups: ['system:nodes', 'system:authenticated'] }, 'kubelet');
  const config = {
    nodeIps: machineAddresses(),
    rootDir: kubeletDirectory(node),
    podLogsDir: path.join(node.directory, 'pod-logs'),
    containerLogsDir: '',
    cgroupRoot: cgroupRootOf(node.directory),
    clusterDns: [deps.dnsServiceIp],
    clusterDomain: CLUSTER_DOMAIN,
    ...SHARED_DISK,
    ...inCommon,
    ...node.kubelet,
    nodeName: node.name,
  };
  let current: Kubelet | undefined;
  const handle = async (call: KubeletCall) => {
    if (current === undefined) throw new Error('the kubelet is not running');
    return current.handle(call);
  };
  kubelets.add(node.name, handle);
  const driverDeps = { ...deps, logger: deps.logger.child({ component: 'csi-controller' }) };
  const kubeletDeps = {
    ...deps,
    client,
    runtime: cri,
    startDriverController: (driver: CsiDriver) => startDriverController(driver, driverDeps),
  };
  const start = (port: number | undefined) => {
    current = startLinuxKubelet({ ...config, ...(port !== undefined && { port }) }, kubeletDeps);
    return current;
  };
  return {
    serve: () => certificates && startMachineServer(config, { ...deps, client, certificates, handle }),
    start: (port) => supervise({ name: 'kubelet', start: () => start(port) }, deps),
  };
}
