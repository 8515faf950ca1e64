import { core } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client, InformerFactory } from '#client';
import { startScheduler } from '#scheduler';
import { InMemoryCluster } from '../../src/scheduler/in-memory-cluster.test-setup.ts';
import type { Benchmark } from './harness.ts';
import { measureShape, PERF_SHAPES } from './scheduler-perf.ts';

const NODES = 5000;
const PODS = 10_000;
const ZONES = 3;

// The scheduler alone, on a cluster that only stores objects. End to end, with a server and a durable store: cluster.bench.ts.
export const benchmarks: Benchmark[] = [
  bench('plain pods', () => ({})),
  bench('pods of a deployment with a service', () => ({ labels: { app: 'web' } })),
  bench('pods spread over zones', () => ({ labels: { app: 'web' }, spec: { topologySpreadConstraints: [zoneSpread] } })),
  bench('pods apart from each other', () => ({ labels: { app: 'web' }, spec: { affinity: { podAntiAffinity: apart } } }), 4000),
  bench('pods beside each other in a zone', () => ({ labels: { app: 'web' }, spec: { affinity: { podAffinity: together } } })),
  ...PERF_SHAPES.map(
    (shape): Benchmark => ({
      kind: 'macro',
      name: `scheduler_perf: ${shape.name}, ${shape.pods} pods on ${shape.nodes ?? NODES} nodes (the scheduler alone)`,
      unit: 'pods/s',
      better: 'higher',
      rounds: 1,
      baseline: { name: "upstream's published minimum", measure: async () => shape.minimum },
      subject: { name: 'sampan', measure: () => measureShape(shape) },
    }),
  ),
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
    baseline: { name: 'the next node for each', measure: () => podsPerSecond({ shape, pods, start: startNextNode }) },
    subject: { name: 'sampan', measure: () => podsPerSecond({ shape, pods, start: startSampan }) },
  };
}

type Start = (client: Client) => Promise<AsyncDisposable>;

const deps = () => ({ clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() });

const startSampan: Start = async (client) => {
  const scheduler = startScheduler({}, { ...deps(), client });
  await scheduler.ready;
  return scheduler;
};

/** Binds pods without considering nodes: the difference is the cost of scheduling decisions. */
const startNextNode: Start = async (client) => {
  const stop = new AbortController();
  const informers = new InformerFactory(client, deps());
  const bindings = client.of(core.Pod).subresource('binding');
  let next = 0;
  informers.of(core.Pod).addHandler({
    add: ({ metadata: { name, namespace } }) => {
      const target = { kind: 'Node', name: `node-${next++ % NODES}` };
      void bindings.create({ name, namespace: namespace ?? '' }, { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target });
    },
  });
  informers.start(stop.signal);
  await informers.synced();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await informers.stop();
    },
  };
};

interface SchedulingCase {
  readonly shape: () => PodShape;
  readonly pods: number;
  readonly start: Start;
}

async function podsPerSecond({ shape, pods, start }: SchedulingCase): Promise<number> {
  const cluster = new InMemoryCluster();
  for (let i = 0; i < NODES; i++) cluster.put('/api/v1/nodes', nodeNumber(i));
  cluster.put('/api/v1/services', { metadata: { name: 'web', namespace: 'default' }, spec: { selector: { app: 'web' } } } as never);
  const bound = new Promise<void>((resolve) => {
    let bindings = 0;
    cluster.onRequest = ({ path }) => {
      if (path.endsWith('/binding') && ++bindings === pods) resolve();
    };
  });
  await using _scheduler = await start(new Client(cluster));
  const since = performance.now();
  for (let i = 0; i < pods; i++) cluster.put('/api/v1/pods', podNumber(i, shape()));
  await bound;
  return pods / ((performance.now() - since) / 1000);
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
