import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { core, discovery } from '#api';
import { type RbacPolicy, reconcileRbac } from '#apiserver';
import { type Component, raceAbort, runComponent, waitForAbort } from '#base';
import type { Client, Draft, Identified, ObjectKey, ResourceClient } from '#client';
import { nameServersOf, startDns } from '#dns';
import { isStatusReason } from '#machinery';
import { bindingToUser, componentPolicy } from '../component-policy.ts';
import { supervise } from '../supervision/supervise.ts';
import type { MachineNetworkDeps } from './machine-network.ts';

export interface ClusterDnsConfig {
  /** The address of the kube-dns service, in pods' resolv.conf. */
  readonly serviceIp: string;
  readonly clusterDomain: string;
}

const DNS = 'system:sampan:cluster-dns';
const NAMESPACE = 'kube-system';
const SERVICE = 'kube-dns';
const PORT = 53;
const RESOLV_CONF = '/etc/resolv.conf';

const READ = ['get', 'list', 'watch'];

const DNS_POLICY: RbacPolicy = {
  ...componentPolicy({
    [DNS]: [
      { apiGroups: [''], resources: ['services', 'namespaces'], verbs: READ },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
    ],
  }),
  roles: [
    {
      metadata: { name: DNS, namespace: NAMESPACE },
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [SERVICE], verbs: READ }],
    },
  ],
  roleBindings: [{ metadata: { name: DNS, namespace: NAMESPACE }, ...bindingToUser('Role', DNS) }],
};

/** Cluster DNS at the gateway address of the machine's pods, behind the kube-dns service. A kube-dns service with a selector takes precedence. */
export function startClusterDns(config: ClusterDnsConfig, gateway: Promise<string>, deps: MachineNetworkDeps): Component {
  const logger = deps.logger.child({ component: 'dns' });
  const client = deps.clientAs({ name: DNS, groups: ['system:authenticated'] }, 'dns');
  const start = () =>
    runComponent(undefined, async ({ signal, ready }) => {
      // Without a gateway pods have no network yet: DNS need not be ready.
      ready();
      const address = await raceAbort(gateway, signal);
      if (!(await publishService(deps.administrator, config.serviceIp, address))) return waitForAbort(signal);
      await reconcileRbac(deps.administrator, DNS_POLICY, logger);
      const server = startDns(
        { listen: [address], port: PORT, serviceIps: [config.serviceIp], upstream: nameServers(), clusterDomain: config.clusterDomain },
        { ...deps, client, logger },
        signal,
      );
      await server.done;
    });
  return supervise({ name: 'dns', start }, deps);
}

function nameServers(): readonly string[] {
  try {
    return nameServersOf(readFileSync(RESOLV_CONF, 'utf8'));
  } catch {
    return [];
  }
}

const PORTS = [
  { name: 'dns', port: PORT, protocol: 'UDP' },
  { name: 'dns-tcp', port: PORT, protocol: 'TCP' },
] as const;

/** Whether the service is managed by this component. */
async function publishService(client: Client, serviceIp: string, address: string): Promise<boolean> {
  const services = client.of(core.Service);
  const key = { name: SERVICE, namespace: NAMESPACE };
  const labels = { 'k8s-app': SERVICE, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' };
  const spec = { clusterIP: serviceIp, ports: PORTS.map((port) => ({ ...port, targetPort: port.port })) };
  const existing =
    (await getIfExists(services, key)) ?? (await createUnlessRaced(services, { metadata: { ...key, labels }, spec } as never));
  if (existing?.spec?.selector !== undefined) return false;
  await publishEndpoints(client, address);
  return true;
}

async function publishEndpoints(client: Client, address: string): Promise<void> {
  const slices = client.of(discovery.EndpointSlice);
  const metadata = {
    name: `${SERVICE}-sampan`,
    namespace: NAMESPACE,
    labels: { 'kubernetes.io/service-name': SERVICE, 'endpointslice.kubernetes.io/managed-by': 'sampan' },
  };
  const endpoints = [{ addresses: [address], conditions: { ready: true, serving: true, terminating: false } }];
  const slice = { metadata, addressType: address.includes(':') ? 'IPv6' : 'IPv4', ports: PORTS, endpoints };
  const existing = await getIfExists(slices, metadata);
  if (existing === undefined) await createUnlessRaced(slices, slice as never);
  else if (!isDeepStrictEqual([existing.endpoints, existing.ports], [endpoints, PORTS]))
    await slices.patch(metadata, { endpoints, ports: PORTS });
}

/** Reads first: a create asks the admission webhooks even if the object exists, and their pods may need names to start. */
async function getIfExists<T extends Identified>(client: ResourceClient<T>, key: ObjectKey): Promise<T | undefined> {
  try {
    return await client.get(key);
  } catch (error) {
    if (isStatusReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function createUnlessRaced<T extends Identified>(client: ResourceClient<T>, object: Draft<T>): Promise<T> {
  try {
    return await client.create(object);
  } catch (error) {
    if (!isStatusReason(error, 'AlreadyExists')) throw error;
    return await client.get(object.metadata as ObjectKey);
  }
}
