import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { core, resource } from '#api';
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client } from '#client';
import { StatusError } from '#machinery';
import { InMemoryCluster } from './in-memory-cluster.test-setup.ts';
import { node, pod } from './placement.test-data.ts';
import { type SchedulerConfig, startScheduler } from './scheduler.ts';

const PODS = '/api/v1/pods';
const NODES = '/api/v1/nodes';
const EVENTS = '/apis/events.k8s.io/v1/events';

const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';
const CLAIMS = '/api/v1/persistentvolumeclaims';
const DEVICE_CLASSES = '/apis/resource.k8s.io/v1/deviceclasses';
const SLICES = '/apis/resource.k8s.io/v1/resourceslices';
const RESOURCE_CLAIMS = '/apis/resource.k8s.io/v1/resourceclaims';

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const component of running.splice(0)) await component[Symbol.asyncDispose]();
});

async function started(cluster: InMemoryCluster, { seed = 1, ...config }: SchedulerConfig & { seed?: number } = {}) {
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry();
  const deps = { client: new Client(cluster), clock, random: seededRandom(seed), logger: silentLogger, metrics };
  const scheduler = startScheduler(config, deps);
  running.push(scheduler);
  await scheduler.ready;
  await clock.settle();
  return { scheduler, clock, metrics };
}

const nodeOf = (cluster: InMemoryCluster, name: string) => cluster.get<core.Pod>(PODS, `default/${name}`)?.spec?.nodeName;
const nominatedTo = (cluster: InMemoryCluster, name: string) =>
  cluster.get<core.Pod>(PODS, `default/${name}`)?.status?.nominatedNodeName ?? undefined;
const conditionOf = (cluster: InMemoryCluster, name: string) =>
  cluster.get<core.Pod>(PODS, `default/${name}`)?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
const notes = (cluster: InMemoryCluster) =>
  cluster.objects<{ reason: string; note: string }>(EVENTS).map(({ reason, note }) => `${reason}: ${note}`);

describe('the scheduler', () => {
  test('binds a pod and says so', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    const { clock, metrics } = await started(cluster);
    cluster.put(PODS, pod('p'));
    await clock.settle();
    expect(nodeOf(cluster, 'p')).toBe('n');
    expect(notes(cluster)).toEqual(['Scheduled: Successfully assigned default/p to n']);
    expect(metrics.text()).toContain('scheduler_schedule_attempts_total{result="scheduled",profile="default-scheduler"} 1');
  });

  test('leaves the pods of other schedulers alone', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    const { clock } = await started(cluster);
    cluster.put(PODS, pod('p', { spec: { schedulerName: 'other' } }));
    await clock.advance(60_000);
    expect(nodeOf(cluster, 'p')).toBeUndefined();
  });

  test('schedules for each of its profiles by that profile', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n', { taints: [{ key: 'k', effect: 'NoSchedule' }] }));
    const lax = { schedulerName: 'lax', plugins: { filter: { disabled: [{ name: 'TaintToleration' }] } } };
    const { clock } = await started(cluster, { configuration: { profiles: [{ schedulerName: 'default-scheduler' }, lax] } });
    cluster.put(PODS, pod('strict'));
    cluster.put(PODS, pod('lax', { spec: { schedulerName: 'lax' } }));
    await clock.settle();
    expect([nodeOf(cluster, 'strict'), nodeOf(cluster, 'lax')]).toEqual([undefined, 'n']);
  });

  test.each([
    { change: 'a node appears', act: (cluster: InMemoryCluster) => cluster.put(NODES, node('big', { allocatable: { cpu: '16' } })) },
    { change: 'a pod goes', act: (cluster: InMemoryCluster) => cluster.remove(PODS, 'default/x') },
    { change: 'the node grows', act: (cluster: InMemoryCluster) => cluster.put(NODES, node('n', { allocatable: { cpu: '16' } })) },
  ])('tries an unschedulable pod again when $change', async ({ act }) => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    cluster.put(PODS, pod('x', { requests: { cpu: '2' }, on: 'n' }));
    const { clock } = await started(cluster);
    cluster.put(PODS, pod('p', { requests: { cpu: '3' } }));
    await clock.settle();
    expect(conditionOf(cluster, 'p')).toMatchObject({ status: 'False', reason: 'Unschedulable', observedGeneration: 1 });
    act(cluster);
    await clock.advance(2000);
    expect(nodeOf(cluster, 'p')).toBeDefined();
  });

  test('does not try again for a change that cannot help', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    const { clock, metrics } = await started(cluster);
    cluster.put(PODS, pod('p', { requests: { cpu: '8' } }));
    await clock.settle();
    cluster.put(NODES, node('n', { labels: { some: 'label' } }));
    cluster.put(NODES, node('small'));
    await clock.advance(60_000);
    expect(metrics.text()).toContain('scheduler_schedule_attempts_total{result="unschedulable",profile="default-scheduler"} 1');
  });

  test('lets a gated pod go when its gates are removed', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    const { clock, metrics } = await started(cluster);
    cluster.put(PODS, pod('p', { spec: { schedulingGates: [{ name: 'wait' }] } }));
    await clock.advance(10_000);
    expect(nodeOf(cluster, 'p')).toBeUndefined();
    expect(metrics.text()).toContain('scheduler_pending_pods{queue="gated"} 1');
    cluster.put(PODS, pod('p'));
    await clock.settle();
    expect(nodeOf(cluster, 'p')).toBe('n');
  });

  test('tells where a pod will be while its volume is being made, and takes it back when that fails', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    cluster.put(CLASSES, { metadata: { name: 'sc' }, provisioner: 'd', volumeBindingMode: 'WaitForFirstConsumer' } as never);
    const spec = { storageClassName: 'sc', resources: { requests: { storage: '1Gi' } } };
    cluster.put(CLAIMS, { metadata: { name: 'c', namespace: 'default' }, spec } as never);
    const { clock } = await started(cluster);
    cluster.put(PODS, pod('p', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] } }));
    await clock.advance(1000);
    const promised = cluster.get<core.PersistentVolumeClaim>(CLAIMS, 'default/c')!;
    expect(promised.metadata.annotations).toEqual({ 'volume.kubernetes.io/selected-node': 'n' });
    expect([nodeOf(cluster, 'p'), nominatedTo(cluster, 'p')]).toEqual([undefined, 'n']);
    cluster.remove(NODES, 'n');
    cluster.put(CLAIMS, { ...promised, metadata: { ...promised.metadata, annotations: { other: 'x' } } } as core.PersistentVolumeClaim);
    await clock.advance(1000);
    expect(notes(cluster)[0]).toBe(
      'FailedScheduling: running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "c"',
    );
    expect(nominatedTo(cluster, 'p')).toBeUndefined();
  });

  test('holds a pod back until its claim is there, and gives no device to two', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    cluster.put(DEVICE_CLASSES, { metadata: { name: 'gpu' }, spec: {} } as never);
    const pool = { name: 'n', generation: 1, resourceSliceCount: 1 };
    const slice = { driver: 'd', pool, nodeName: 'n', devices: [{ name: 'g' }] };
    cluster.put(SLICES, { metadata: { name: 's' }, spec: slice } as never);
    const { clock } = await started(cluster);
    for (const name of ['p', 'q']) {
      cluster.put(PODS, pod(name, { spec: { resourceClaims: [{ name: 'g', resourceClaimName: name }] } }));
    }
    await clock.advance(2000);
    expect([conditionOf(cluster, 'p'), notes(cluster)]).toEqual([undefined, []]);
    for (const name of ['p', 'q']) {
      const requests = [{ name: 'r', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 } }];
      cluster.put(RESOURCE_CLAIMS, { metadata: { name, namespace: 'default' }, spec: { devices: { requests } } } as never);
    }
    await clock.advance(2000);
    const claims = cluster.objects<resource.ResourceClaim>(RESOURCE_CLAIMS);
    const allocated = claims.filter(({ status }) => status?.allocation !== undefined);
    expect(allocated.map(({ metadata, status }) => [metadata.finalizers, status?.reservedFor])).toEqual([
      [['resource.kubernetes.io/delete-protection'], [{ resource: 'pods', name: 'p', uid: 'default-p' }]],
    ]);
    expect([nodeOf(cluster, 'p'), nodeOf(cluster, 'q')]).toEqual(['n', undefined]);
    expect(conditionOf(cluster, 'q')?.message).toMatch(/cannot allocate all claims/);
  });

  test('claims the devices that stand for extended resources of a pod', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    cluster.put(DEVICE_CLASSES, { metadata: { name: 'gpu' }, spec: { extendedResourceName: 'example.com/gpu' } } as never);
    const pool = { name: 'n', generation: 1, resourceSliceCount: 1 };
    const devices = ['g', 'h', 'i'].map((name) => ({ name }));
    cluster.put(SLICES, { metadata: { name: 's' }, spec: { driver: 'd', pool, nodeName: 'n', devices } } as never);
    const { clock } = await started(cluster);
    cluster.put(PODS, pod('p', { requests: { cpu: '1', 'example.com/gpu': '2' } }));
    cluster.put(PODS, pod('q', { requests: { 'deviceclass.resource.kubernetes.io/gpu': '2' } }));
    await clock.advance(5000);
    const [claim, ...others] = cluster.objects<resource.ResourceClaim>(RESOURCE_CLAIMS);
    expect([others, claim?.metadata.generateName, claim?.metadata.annotations]).toEqual([
      [],
      'p-extended-resources-',
      { 'resource.kubernetes.io/extended-resource-claim': 'true' },
    ]);
    expect(claim).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Pod', name: 'p', uid: 'default-p', controller: true }] },
      spec: { devices: { requests: [{ name: 'container-0-request-1', exactly: { deviceClassName: 'gpu', count: 2 } }] } },
      status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'default-p' }] },
    });
    expect(cluster.get<core.Pod>(PODS, 'default/p')?.status?.extendedResourceClaimStatus).toEqual({
      requestMappings: [{ containerName: 'main', resourceName: 'example.com/gpu', requestName: 'container-0-request-1' }],
      resourceClaimName: claim?.metadata.name,
    });
    expect([nodeOf(cluster, 'p'), nodeOf(cluster, 'q')]).toEqual(['n', undefined]);
    expect(conditionOf(cluster, 'q')?.message).toMatch(/cannot allocate all claims/);
  });

  test('leaves victims alone that are going already', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    cluster.put(PODS, pod('victim', { requests: { cpu: '3' }, on: 'n', deletionTimestamp: '2026-01-01T00:00:00Z' }));
    const { clock } = await started(cluster);
    cluster.put(PODS, pod('p', { requests: { cpu: '3' }, priority: 10 }));
    await clock.advance(2000);
    expect(cluster.get<core.Pod>(PODS, 'default/victim')?.status?.conditions).toBeUndefined();
    expect([notes(cluster), nominatedTo(cluster, 'p')]).toEqual([['FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.'], 'n']);
  });

  test('makes room for a more important pod, and keeps the room for it', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n'));
    cluster.put(PODS, pod('victim', { requests: { cpu: '3' }, on: 'n' }));
    const { clock } = await started(cluster);
    cluster.put(PODS, pod('p', { requests: { cpu: '3' }, priority: 10 }));
    await clock.advance(2000);
    expect(cluster.get(PODS, 'default/victim')).toBeUndefined();
    expect(nodeOf(cluster, 'p')).toBe('n');
    expect(notes(cluster)).toContain('Preempted: Preempted by pod default-p on node n');
  });

  test('tries again when binding fails, and counts the pod only once', async () => {
    const cluster = new InMemoryCluster();
    cluster.put(NODES, node('n', { allocatable: { pods: '1' } }));
    let failures = 2;
    cluster.onRequest = ({ path }) => {
      if (path.endsWith('/binding') && failures-- > 0) throw StatusError.internalError(new Error('try later'));
    };
    const { clock } = await started(cluster);
    cluster.put(PODS, pod('p'));
    await clock.advance(10_000);
    expect(nodeOf(cluster, 'p')).toBe('n');
  });

  test('stops with nothing left to wait for', async () => {
    const cluster = new InMemoryCluster();
    const { scheduler, clock } = await started(cluster);
    cluster.put(PODS, pod('p'));
    await clock.settle();
    await scheduler[Symbol.asyncDispose]();
    expect(clock.pendingTimers).toBe(0);
  });
});

type Step =
  | { readonly type: 'pod'; readonly cpu: number; readonly priority: number }
  | { readonly type: 'delete' | 'drop-node'; readonly index: number }
  | { readonly type: 'node'; readonly cpu: number }
  | { readonly type: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('pod' as const),
      cpu: fc.integer({ min: 1, max: 4 }),
      priority: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete' as const), index: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('node' as const), cpu: fc.integer({ min: 2, max: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('drop-node' as const), index: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat(3000) }) },
);

const cpuOf = ({ spec }: core.Pod) => Number((spec?.containers?.[0]?.resources?.requests as { cpu?: string } | undefined)?.cpu ?? 0);

const cpusOf = (status: core.NodeStatus | undefined) => Number((status?.allocatable as { cpu?: string } | undefined)?.cpu ?? 0);

test('no history of pods, nodes and failing bindings loses a pod, or gives a node more than it has', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer(), async (steps, seed) => {
      const cluster = new InMemoryCluster();
      const random = seededRandom(seed);
      let failing = true;
      cluster.onRequest = ({ path }) => {
        if (failing && path.endsWith('/binding') && random.float() < 0.2) throw StatusError.internalError(new Error('try later'));
      };
      const { scheduler, clock } = await started(cluster, { seed });
      let count = 0;
      for (const change of steps) {
        if (change.type === 'pod')
          cluster.put(PODS, pod(`p${count++}`, { requests: { cpu: String(change.cpu) }, priority: change.priority }));
        if (change.type === 'node') cluster.put(NODES, node(`n${count++}`, { allocatable: { cpu: String(change.cpu) } }));
        if (change.type === 'delete') removeOne(cluster, PODS, change.index);
        if (change.type === 'drop-node') removeOne(cluster, NODES, change.index);
        if (change.type === 'wait') await clock.advance(change.ms);
        overcommitted(cluster);
      }
      failing = false;
      await clock.advance(30_000);
      overcommitted(cluster);
      expect(forgotten(cluster)).toEqual([]);
      await scheduler[Symbol.asyncDispose]();
    }),
    { numRuns: 40 },
  );
}, 60_000);

function removeOne(cluster: InMemoryCluster, collection: string, index: number): void {
  const objects = cluster.objects<core.Pod>(collection);
  const chosen = objects[index % objects.length];
  if (chosen === undefined) return;
  const { name, namespace } = chosen.metadata;
  cluster.remove(collection, namespace ? `${namespace}/${name}` : name);
  // What ran on a node that is gone is collected with it.
  if (collection !== NODES) return;
  for (const { metadata, spec } of cluster.objects<core.Pod>(PODS))
    if (spec?.nodeName === name) cluster.remove(PODS, `default/${metadata.name}`);
}

function overcommitted(cluster: InMemoryCluster): void {
  for (const { metadata, status } of cluster.objects<core.Node>(NODES)) {
    const used = usedOn(cluster, metadata.name);
    expect(used).toBeLessThanOrEqual(cpusOf(status));
  }
}

function usedOn(cluster: InMemoryCluster, name: string): number {
  return cluster
    .objects<core.Pod>(PODS)
    .filter(({ spec }) => spec?.nodeName === name)
    .reduce((sum, candidate) => sum + cpuOf(candidate), 0);
}

/** Pods that wait though a node has room for them. */
function forgotten(cluster: InMemoryCluster): string[] {
  const free = cluster.objects<core.Node>(NODES).map(({ metadata, status }) => cpusOf(status) - usedOn(cluster, metadata.name));
  const most = Math.max(0, ...free);
  return cluster
    .objects<core.Pod>(PODS)
    .filter((candidate) => !candidate.spec?.nodeName && cpuOf(candidate) <= most)
    .map(({ metadata }) => metadata.name);
}

describe('a candidate for leadership', () => {
  const lease = { namespace: 'kube-system', name: 'kube-scheduler' };
  const LEASES = '/apis/coordination.k8s.io/v1/leases';
  const heldByOther = (clock: VirtualClock) => ({
    metadata: lease,
    spec: { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: new Date(clock.now()).toISOString(), leaseTransitions: 0 },
  });

  test.each([
    { delayCacheUntilActive: false, knows: 'already knows' },
    { delayCacheUntilActive: true, knows: 'does not yet know' },
  ])('$knows the cluster while another leads when delayCacheUntilActive is $delayCacheUntilActive', async ({ delayCacheUntilActive }) => {
    const cluster = new InMemoryCluster();
    cluster.put(LEASES, heldByOther(new VirtualClock()));
    cluster.put(NODES, node('n'));
    cluster.put(PODS, pod('p'));
    const paths: string[] = [];
    cluster.onRequest = ({ path }) => void paths.push(path);
    const { clock } = await started(cluster, { configuration: { delayCacheUntilActive }, leaderElection: { lease, identity: 'me' } });
    expect(paths.includes(PODS)).toBe(!delayCacheUntilActive);
    expect(nodeOf(cluster, 'p')).toBeUndefined();
    // The other is silent: its lease runs out.
    await clock.advance(30_000);
    expect(nodeOf(cluster, 'p')).toBe('n');
  });
});
