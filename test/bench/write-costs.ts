import { coordination, core, discovery } from '#api';
import { formatMicroTime, formatTime } from '#machinery';
import { startCluster, type TestCluster } from '#testing';
import { loadPod } from './load-pod.ts';

const WARM_UP = 2_000;
const WRITES = 4_000;
const NAMESPACE = 'default';
/** The usual most of a slice. */
const ENDPOINTS = 100;
const NODE_LEASES = 'kube-node-lease';

export interface WriteCosts {
  readonly get: number;
  readonly lease: number;
  readonly nodeStatus: number;
  readonly podStatus: number;
  readonly newEvent: number;
  readonly repeatedEvent: number;
  readonly endpointSlice: number;
}

/** Microseconds of CPU time for one write each of those that a cluster makes by itself, in one process with all components, everything counted. */
export async function writeCosts(): Promise<WriteCosts> {
  await using cluster = await startCluster({ nodes: 3 });
  const { metadata, spec } = loadPod('measured', { spec: { schedulerName: 'nobody' } });
  await cluster.client.of(core.Pod).create({ metadata: { ...metadata, namespace: NAMESPACE }, spec });
  const [node = ''] = (await cluster.client.of(core.Node).list()).items.map(({ metadata }) => metadata.name);
  return {
    get: await get(cluster, node),
    lease: await leaseRenewal(cluster),
    nodeStatus: await nodeStatus(cluster, node),
    podStatus: await podStatus(cluster),
    newEvent: await newEvent(cluster),
    repeatedEvent: await repeatedEvent(cluster),
    endpointSlice: await endpointSlice(cluster),
  };
}

async function costOf(once: (i: number) => Promise<unknown>): Promise<number> {
  for (let i = 0; i < WARM_UP; i++) await once(i);
  const before = process.cpuUsage();
  for (let i = 0; i < WRITES; i++) await once(WARM_UP + i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / WRITES;
}

function get({ client }: TestCluster, name: string): Promise<number> {
  const leases = client.of(coordination.Lease);
  return costOf(() => leases.get({ name, namespace: NODE_LEASES }));
}

async function leaseRenewal({ client }: TestCluster): Promise<number> {
  const leases = client.of(coordination.Lease);
  const renewed = (i: number) => ({
    holderIdentity: 'measured',
    leaseDurationSeconds: 40,
    renewTime: formatMicroTime(Date.UTC(2026, 0, 1) + i),
  });
  let lease = await leases.create({ metadata: { name: 'measured', namespace: NODE_LEASES }, spec: renewed(0) });
  return costOf(async (i) => {
    lease = await leases.update({ ...lease, spec: { ...lease.spec, ...renewed(i + 1) } });
  });
}

function nodeStatus({ client }: TestCluster, name: string): Promise<number> {
  const nodes = client.of(core.Node);
  return costOf((i) => {
    const condition = { type: 'Ready', status: 'True', lastHeartbeatTime: timeOf(i) };
    return nodes.patch({ name }, { status: { conditions: [condition] } }, { type: 'strategic', subresource: 'status' });
  });
}

function podStatus({ client }: TestCluster): Promise<number> {
  const pods = client.of(core.Pod);
  const at = { name: 'measured', namespace: NAMESPACE };
  return costOf((i) => {
    const condition = { type: 'Ready', status: 'False', lastProbeTime: timeOf(i) };
    return pods.patch(at, { status: { conditions: [condition] } }, { type: 'strategic', subresource: 'status' });
  });
}

function newEvent({ client }: TestCluster): Promise<number> {
  const events = client.of(core.Event);
  return costOf((i) => events.create(eventNumber(`new-${i}`)));
}

async function repeatedEvent({ client }: TestCluster): Promise<number> {
  const events = client.of(core.Event);
  const { metadata } = await events.create(eventNumber('repeated'));
  const at = { name: metadata.name, namespace: NAMESPACE };
  return costOf((i) => events.patch(at, { count: i + 2, lastTimestamp: timeOf(i) }));
}

async function endpointSlice({ client }: TestCluster): Promise<number> {
  const slices = client.of(discovery.EndpointSlice);
  const endpoints = Array.from({ length: ENDPOINTS }, (_, i) => ({
    addresses: [`10.244.1.${i + 1}`],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: 'node-1',
    targetRef: { kind: 'Pod', namespace: NAMESPACE, name: `web-${i}`, uid: `0b6ab4b5-6b7a-4f0a-9f1c-${String(i).padStart(12, '0')}` },
  }));
  const metadata = { name: 'web-1', namespace: NAMESPACE, labels: { 'kubernetes.io/service-name': 'web' } };
  let slice = await slices.create({ metadata, addressType: 'IPv4', endpoints, ports: [{ name: 'http', port: 8080 }] });
  return costOf(async (i) => {
    const changed = endpoints.with(i % ENDPOINTS, {
      ...endpoints[i % ENDPOINTS]!,
      conditions: { ready: false, serving: false, terminating: i % 2 === 0 },
    });
    slice = await slices.update({ ...slice, endpoints: changed });
  });
}

function eventNumber(name: string) {
  const involvedObject = { apiVersion: 'v1', kind: 'Pod', name: 'measured', namespace: NAMESPACE };
  const times = { firstTimestamp: timeOf(0), lastTimestamp: timeOf(0) };
  const what = { reason: 'Started', message: 'Container started', type: 'Normal', source: { component: 'kubelet', host: 'node-1' } };
  return { metadata: { name, namespace: NAMESPACE }, involvedObject, ...what, ...times, count: 1 };
}

function timeOf(i: number): string {
  return formatTime(Date.UTC(2026, 0, 1) + i * 1000);
}
