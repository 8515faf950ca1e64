import path from 'node:path';
import { reconcileRbac, type UserInfo } from '#apiserver';
import type { Clock, Component, Logger, MetricsRegistry, Random } from '#base';
import type { Client } from '#client';
import { type LocalLoadBalancerConfig, startAddressAnnouncer, startLocalLoadBalancer } from '#cloud';
import { cniDirectories } from '#kubelet';
import { startNetworkAgent } from '#network';
import { readProxyConfiguration, startProxy } from '#proxy';
import { componentPolicy } from '../component-policy.ts';
import { supervise } from '../supervision/supervise.ts';
import { startClusterDns } from './cluster-dns.ts';
import type { MachineNode } from './node-specification.ts';

/** Network settings of nodes that the cluster starts. */
export interface NetworkSettings {
  /** Fields of a KubeProxyConfiguration. Its servers listen only if configured. */
  readonly proxy?: Readonly<Record<string, unknown>>;
  readonly loadBalancer?: LocalLoadBalancerConfig;
}

export interface MachineNetworkDeps {
  readonly clientAs: (user: UserInfo, userAgent?: string) => Client;
  readonly administrator: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** The pod CIDRs of the cluster. */
  readonly clusterCidrs: readonly string[];
  /** The address of the kube-dns service. */
  readonly dnsServiceIp: string;
  /** Serves the API at an address that is reachable from pods. */
  readonly listenForPods: (address: string) => Promise<void>;
}

const AGENT = 'system:sampan:network-agent';
const BALANCER = 'system:sampan:load-balancer';
const PROXY = 'system:kube-proxy';

export const CLUSTER_DOMAIN = 'cluster.local';

const READ = ['get', 'list', 'watch'];

/** The pod network must watch all nodes, which node authorization does not allow. */
const NETWORK_POLICY = componentPolicy({
  [AGENT]: [
    { apiGroups: [''], resources: ['nodes', 'pods', 'namespaces'], verbs: READ },
    { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: READ },
  ],
  [BALANCER]: [
    { apiGroups: [''], resources: ['nodes', 'services'], verbs: READ },
    { apiGroups: [''], resources: ['services/status'], verbs: ['patch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ],
});

/** The network components of a machine node, in start order; stopped in reverse. */
export async function machineNetwork(
  node: MachineNode,
  settings: NetworkSettings,
  deps: MachineNetworkDeps,
): Promise<readonly Component[]> {
  await reconcileRbac(deps.administrator, NETWORK_POLICY, deps.logger);
  const others = [proxy(node, settings, deps), loadBalancer(settings, deps), ...announcer(node, settings, deps)];
  // External runtimes have their own network and DNS.
  if (node.runtime.type !== 'containerd') return others;
  let useGateway: (address: string) => void = () => {};
  const gateway = new Promise<string>((resolve) => {
    useGateway = resolve;
  });
  const dns = { serviceIp: deps.dnsServiceIp, clusterDomain: node.kubelet?.clusterDomain ?? CLUSTER_DOMAIN };
  return [networkAgent(node, deps, useGateway), ...others, startClusterDns(dns, gateway, deps)];
}

function own(deps: MachineNetworkDeps, component: string, user: string) {
  const logger = deps.logger.child({ component });
  return { ...deps, logger, client: deps.clientAs({ name: user, groups: ['system:authenticated'] }, component) };
}

/** Only for the private containerd: external runtimes have a network. */
function networkAgent(node: MachineNode, deps: MachineNetworkDeps, useGateway: (address: string) => void): Component {
  const { runtime, name: nodeName, directory } = node;
  const { bin, conf } = cniDirectories(runtime.type === 'containerd' ? runtime.containerd : { dataDirectory: directory });
  const config = {
    nodeName,
    stateDirectory: path.join(directory, 'network'),
    binDirectory: bin,
    configDirectory: conf,
    // All pods have ended by then; after a kill the next start adopts the network.
    removeOnStop: true,
  };
  const onGateway = (address: string) => {
    useGateway(address);
    deps.listenForPods(address).catch((error) => deps.logger.error('pods cannot reach the API server', { address, error }));
  };
  const agentDeps = { ...own(deps, 'network-agent', AGENT), onGateway };
  return supervise({ name: 'network-agent', start: () => startNetworkAgent(config, agentDeps) }, deps);
}

function proxy({ name: nodeName }: MachineNode, settings: NetworkSettings, deps: MachineNetworkDeps): Component {
  const proxySettings = { clusterCIDR: deps.clusterCidrs.join(','), ...settings.proxy };
  const { healthzBindAddress, metricsBindAddress, conntrack, ...configuration } = readProxyConfiguration(proxySettings);
  const onRequest = {
    ...(Boolean(settings.proxy?.healthzBindAddress) && healthzBindAddress && { healthzBindAddress }),
    ...(Boolean(settings.proxy?.metricsBindAddress) && metricsBindAddress && { metricsBindAddress }),
    // Conntrack settings of the machine are changed only on request.
    ...(settings.proxy?.conntrack !== undefined && conntrack && { conntrack }),
  };
  const config = { ...configuration, ...onRequest, nodeName, removeOnStop: true };
  const proxyDeps = own(deps, 'kube-proxy', PROXY);
  return supervise({ name: 'kube-proxy', start: () => startProxy(config, proxyDeps) }, deps);
}

function loadBalancer({ loadBalancer: config = {} }: NetworkSettings, deps: MachineNetworkDeps): Component {
  const balancerDeps = own(deps, 'load-balancer', BALANCER);
  return supervise({ name: 'load-balancer', start: () => startLocalLoadBalancer(config, balancerDeps) }, deps);
}

/** Only load balancer ranges must be announced; node addresses are reachable anyway. */
function announcer({ name: nodeName }: MachineNode, { loadBalancer: { ranges = [] } = {} }: NetworkSettings, deps: MachineNetworkDeps) {
  const announcerDeps = own(deps, 'address-announcer', BALANCER);
  const start = () => startAddressAnnouncer({ nodeName, ranges }, announcerDeps);
  return ranges.length === 0 ? [] : [supervise({ name: 'address-announcer', start }, deps)];
}
