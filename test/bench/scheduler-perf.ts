import { MetricsRegistry, realClock, seededRandom, silentLogger, type TimerHandle } from '#base';
import { Client } from '#client';
import { startScheduler } from '#scheduler';
import { InMemoryCluster } from '../../src/scheduler/in-memory-cluster.test-setup.ts';

/** One of upstream's scheduler_perf workloads. */
export interface PerfShape {
  readonly name: string;
  /** The minimum of pods per second in upstream's CI: the threshold in its performance-config.yaml. */
  readonly minimum: number;
  readonly nodes?: number;
  /** Pods that are already bound at the start. */
  readonly initPods?: number;
  readonly initPod?: (i: number) => PodParts;
  readonly pods: number;
  readonly pod?: (i: number) => PodParts;
  readonly prepare?: (cluster: InMemoryCluster, nodes: number) => void;
  /** Called every 200 ms while pods are scheduled. */
  readonly churn?: (cluster: InMemoryCluster, i: number) => void;
}

interface PodParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly cpu?: string;
}

const NODES = 5_000;
const CHURN_MS = 200;
const ZONE = 'topology.kubernetes.io/zone';
const HOSTNAME = 'kubernetes.io/hostname';
const DRIVER = 'test-driver.cdi.k8s.io';
const CSI_DRIVER = 'ebs.csi.aws.com';
const DEVICES_PER_NODE = 10;
const GREEN = { color: 'green' };
const term = (topologyKey: string) => ({ topologyKey, labelSelector: { matchLabels: GREEN } });
const required = (topologyKey: string) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term(topologyKey)] });
const preferred = (topologyKey: string) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(topologyKey) }],
});
const green = (affinity: object) => (): PodParts => ({ labels: GREEN, spec: { affinity } });

export const PERF_SHAPES: readonly PerfShape[] = [
  { name: 'SchedulingBasic', minimum: 680, initPods: 1_000, pods: 10_000 },
  {
    name: 'SchedulingPodAntiAffinity',
    minimum: 180,
    initPods: 1_000,
    initPod: green({ podAntiAffinity: required(HOSTNAME) }),
    pods: 2_000,
    pod: green({ podAntiAffinity: required(HOSTNAME) }),
  },
  {
    name: 'SchedulingPodAffinity',
    minimum: 70,
    initPods: 5_000,
    initPod: green({ podAffinity: required(ZONE) }),
    pods: 5_000,
    pod: green({ podAffinity: required(ZONE) }),
  },
  {
    name: 'SchedulingPreferredPodAffinity',
    minimum: 160,
    initPods: 5_000,
    initPod: green({ podAffinity: preferred(HOSTNAME) }),
    pods: 5_000,
    pod: green({ podAffinity: preferred(HOSTNAME) }),
  },
  {
    name: 'TopologySpreading',
    minimum: 460,
    initPods: 5_000,
    pods: 5_000,
    pod: () => ({
      labels: GREEN,
      spec: {
        topologySpreadConstraints: [
          { maxSkew: 5, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: GREEN } },
        ],
      },
    }),
  },
  {
    name: 'PreemptionAsync',
    minimum: 570,
    initPods: 20_000,
    initPod: () => ({ cpu: '900m' }),
    pods: 5_000,
    churn: (cluster, i) => putPod(cluster, `high-${i}`, { cpu: '3', spec: { priority: 10 } }),
  },
  {
    name: 'Unschedulable',
    minimum: 590,
    initPods: 100,
    pods: 10_000,
    churn: (cluster, i) => putPod(cluster, `large-${i}`, { cpu: '9', spec: { priority: 10 } }),
  },
  {
    name: 'SchedulingWhileGated',
    minimum: 910,
    nodes: 1,
    initPods: 20_000,
    initPod: () => ({ cpu: '0' }),
    pods: 20_000,
    pod: () => ({ cpu: '0' }),
    prepare: (cluster) => {
      for (let i = 0; i < 10_000; i++) putPod(cluster, `gated-${i}`, { spec: { schedulingGates: [{ name: 'example.com/gate' }] } });
    },
    churn: (cluster, i) => {
      for (let k = 0; k < 10; k++) cluster.remove(PODS, `default/init-${i * 10 + k}`);
    },
  },
  {
    name: 'SchedulingCSIPVs',
    minimum: 100,
    initPods: 5_000,
    initPod: (i) => ({ spec: { volumes: [claimVolume(i)] } }),
    pods: 5_000,
    pod: (i) => ({ spec: { volumes: [claimVolume(5_000 + i)] } }),
    prepare: (cluster, nodes) => {
      for (let i = 0; i < nodes; i++) cluster.put('/apis/storage.k8s.io/v1/csinodes', csiNode(i));
      for (let i = 0; i < 10_000; i++) putBoundClaim(cluster, i);
    },
  },
  {
    name: 'SchedulingWithResourceClaim (DRA)',
    minimum: 130,
    nodes: 500,
    pods: 5_000,
    pod: (i) => ({ spec: { resourceClaims: [{ name: 'device', resourceClaimName: `claim-${i}` }] } }),
    prepare: (cluster, nodes) => {
      cluster.put(`${DRA}/deviceclasses`, {
        metadata: { name: 'test-class' },
        spec: { selectors: [{ cel: { expression: `device.driver == "${DRIVER}"` } }] },
      } as never);
      for (let i = 0; i < nodes; i++) cluster.put(`${DRA}/resourceslices`, slice(i));
      for (let i = 0; i < nodes * DEVICES_PER_NODE; i++) cluster.put(`${DRA}/resourceclaims`, claim(i));
    },
  },
];

const PODS = '/api/v1/pods';
const DRA = '/apis/resource.k8s.io/v1';

/** Pods bound per second by the scheduler alone, on a cluster that only stores objects. */
export async function measureShape({ nodes = NODES, initPods = 0, initPod, pods, pod, prepare, churn }: PerfShape): Promise<number> {
  const cluster = new InMemoryCluster();
  for (let i = 0; i < nodes; i++) cluster.put('/api/v1/nodes', node(i, nodes === 1 ? '100000' : '110'));
  prepare?.(cluster, nodes);
  for (let i = 0; i < initPods; i++) putPod(cluster, `init-${i}`, initPod?.(i) ?? {}, `node-${i % nodes}`);
  const bound = allBound(cluster, pods);
  const deps = { clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() };
  await using scheduler = startScheduler({}, { ...deps, client: new Client(cluster) });
  await scheduler.ready;
  using _churn = repeated((i) => churn?.(cluster, i));
  const since = performance.now();
  for (let i = 0; i < pods; i++) putPod(cluster, `measured-${i}`, pod?.(i) ?? {});
  await bound;
  return pods / ((performance.now() - since) / 1000);
}

const BINDING = /\/pods\/measured-\d+\/binding$/;

function allBound(cluster: InMemoryCluster, pods: number): Promise<void> {
  return new Promise((resolve) => {
    let bindings = 0;
    cluster.onRequest = ({ path }) => {
      if (BINDING.test(path) && ++bindings === pods) resolve();
    };
  });
}

function repeated(action: (i: number) => void): Disposable {
  let timer: TimerHandle;
  let i = 0;
  const next = () => {
    timer = realClock.setTimer(CHURN_MS, () => {
      action(i++);
      next();
    });
  };
  next();
  return { [Symbol.dispose]: () => timer.cancel() };
}

function node(i: number, pods: string): { metadata: { name: string } } {
  const labels = { [HOSTNAME]: `node-${i}`, [ZONE]: `zone-${i % 3}` };
  const allocatable = { cpu: '4', memory: '32Gi', pods };
  return { metadata: { name: `node-${i}`, labels }, spec: {}, status: { allocatable, capacity: allocatable } } as never;
}

function putPod(cluster: InMemoryCluster, name: string, { labels = {}, spec, cpu = '100m' }: PodParts, nodeName?: string): void {
  const containers = [{ name: 'main', image: 'pause:3.10', resources: { requests: { cpu, memory: '500Mi' } } }];
  if (cpu === '0') containers[0]!.resources.requests.memory = '0';
  cluster.put(PODS, {
    metadata: { name, namespace: 'default', generation: 1, labels },
    spec: { schedulerName: 'default-scheduler', containers, priority: 0, ...(nodeName && { nodeName }), ...spec },
    status: { phase: nodeName ? 'Running' : 'Pending' },
  } as never);
}

function claimVolume(i: number): object {
  return { name: 'data', persistentVolumeClaim: { claimName: `claim-${i}` } };
}

function putBoundClaim(cluster: InMemoryCluster, i: number): void {
  const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
  const common = { accessModes: ['ReadOnlyMany'] };
  cluster.put('/api/v1/persistentvolumes', {
    metadata: { name: `volume-${i}` },
    spec: {
      ...common,
      capacity: { storage: '1Gi' },
      csi: { driver: CSI_DRIVER, volumeHandle: `volume-${i}` },
      claimRef: { namespace: 'default', name: `claim-${i}`, uid: `claim-${i}` },
    },
    status: { phase: 'Bound' },
  } as never);
  cluster.put('/api/v1/persistentvolumeclaims', {
    metadata: { name: `claim-${i}`, namespace: 'default', uid: `claim-${i}`, annotations },
    spec: { ...common, resources: { requests: { storage: '1Gi' } }, volumeName: `volume-${i}` },
    status: { phase: 'Bound' },
  } as never);
}

function csiNode(i: number): { metadata: { name: string } } {
  return {
    metadata: { name: `node-${i}` },
    spec: { drivers: [{ name: CSI_DRIVER, nodeID: `node-${i}`, allocatable: { count: 39 } }] },
  } as never;
}

function slice(i: number): { metadata: { name: string } } {
  const devices = Array.from({ length: DEVICES_PER_NODE }, (_, k) => ({ name: `device-${k}` }));
  const pool = { name: `node-${i}`, generation: 1, resourceSliceCount: 1 };
  return { metadata: { name: `slice-${i}` }, spec: { driver: DRIVER, nodeName: `node-${i}`, pool, devices } } as never;
}

function claim(i: number): { metadata: { name: string } } {
  const request = { name: 'device', exactly: { deviceClassName: 'test-class', allocationMode: 'ExactCount', count: 1 } };
  return { metadata: { name: `claim-${i}`, namespace: 'default' }, spec: { devices: { requests: [request] } } } as never;
}
