import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { startScheduler } from '#scheduler';
import { InMemoryCluster } from '../../src/scheduler/in-memory-cluster.ts';
import type { Benchmark } from './harness.ts';

const NODES = 5000;
const PODS = 10_000;
const ZONES = 3;
/** Measured on this kind of machine with upstream's etcd, kube-apiserver and kube-scheduler, from create to bound. */
const UPSTREAM = { name: 'upstream, end to end', measure: async () => 259 };

export const benchmarks: Benchmark[] = [
  bench('plain pods', () => ({})),
  bench('pods of a deployment with a service', () => ({ labels: { app: 'web' } })),
  bench('pods spread over zones', () => ({ labels: { app: 'web' }, spec: { topologySpreadConstraints: [zoneSpread] } })),
  bench('pods apart from each other', () => ({ labels: { app: 'web' }, spec: { affinity: { podAntiAffinity: apart } } }), 4000),
  bench('pods beside each other in a zone', () => ({ labels: { app: 'web' }, spec: { affinity: { podAffinity: together } } })),
];

const labelSelector = { matchLabels: { app: 'web' } };
const zoneSpread = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector };
const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector }] };
const together = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'topology.kubernetes.io/zone', labelSelector }] };

interface PodShape {
  readonly labels?: object;
  readonly spec?: object;
}

function bench(name: string, shape: () => PodShape, pods = PODS): Benchmark {
  return {
    kind: 'macro',
    name: `scheduler: ${name} on ${NODES} nodes (the scheduler alone)`,
    unit: 'pods/s',
    better: 'higher',
    rounds: 3,
    baseline: UPSTREAM,
    subject: { name: 'sampan', measure: () => podsPerSecond(shape, pods) },
  };
}

async function podsPerSecond(shape: () => PodShape, count: number): Promise<number> {
  const cluster = new InMemoryCluster();
  for (let i = 0; i < NODES; i++) cluster.put('/api/v1/nodes', nodeNumber(i));
  cluster.put('/api/v1/services', { metadata: { name: 'web', namespace: 'default' }, spec: { selector: { app: 'web' } } } as never);
  const bound = new Promise<void>((resolve) => {
    let bindings = 0;
    cluster.onRequest = ({ path }) => {
      if (path.endsWith('/binding') && ++bindings === count) resolve();
    };
  });
  const deps = { clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() };
  await using scheduler = startScheduler({}, { ...deps, client: new Client(cluster) });
  await scheduler.ready;
  const start = performance.now();
  for (let i = 0; i < count; i++) cluster.put('/api/v1/pods', podNumber(i, shape()));
  await bound;
  return count / ((performance.now() - start) / 1000);
}

function nodeNumber(i: number) {
  const labels = { 'kubernetes.io/hostname': `node-${i}`, 'topology.kubernetes.io/zone': `zone-${i % ZONES}` };
  const allocatable = { cpu: '32', memory: '64Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  return { metadata: { name: `node-${i}`, labels }, spec: {}, status: { allocatable, capacity: allocatable } };
}

function podNumber(i: number, { labels = {}, spec = {} }: PodShape) {
  const containers = [{ name: 'main', image: 'pause:3.10', resources: { requests: { cpu: '100m', memory: '128Mi' } } }];
  return {
    metadata: { name: `pod-${i}`, namespace: 'default', generation: 1, labels },
    spec: { schedulerName: 'default-scheduler', containers, priority: 0, ...spec },
    status: { phase: 'Pending' },
  };
}
