import { describe, expect, it } from 'vitest';
import { apps, batch, core, policy } from '#api';
import { type Random, seededRandom } from '#base';
import { actAsKubelet, deploymentOf, isReady, type Plane, podsOf, startWorkloads, updateNode } from './workload-actors.ts';

const NAMESPACE = 'default';

describe('a rolling update', () => {
  it.each([1, 2, 3, 4])('never has too many pods nor too few that are ready, whoever interferes (seed %d)', async (seed) => {
    await using plane = await startWorkloads(seed);
    const random = seededRandom(seed);
    const [replicas, maxSurge, maxUnavailable] = [3 + random.int(6), 1 + random.int(3), random.int(3)];
    const rollingUpdate = { maxSurge, maxUnavailable };
    await plane.client.of(apps.Deployment).create(deploymentOf('web', { replicas, strategy: { type: 'RollingUpdate', rollingUpdate } }));
    await converge(plane, random, replicas);
    const seen = { most: 0, fewest: Infinity };
    using _watch = watchPods(plane, (pods) => {
      seen.most = Math.max(seen.most, pods.length);
      seen.fewest = Math.min(seen.fewest, pods.filter(isReady).length);
    });
    for (let round = 0; round < 4; round++) {
      await edit(plane, (deployment) => withImage(deployment, `img:${seed}-${round}`));
      await interfere(plane, random);
    }
    await converge(plane, random, replicas);
    expect(seen.most).toBeLessThanOrEqual(replicas + maxSurge);
    expect(seen.fewest).toBeGreaterThanOrEqual(replicas - maxUnavailable);
    const images = new Set((await podsOf(plane)).map(({ spec }) => spec?.containers[0]?.image));
    expect(images).toEqual(new Set([`img:${seed}-3`]));
  });
});

describe('a deployment with any history', () => {
  it.each([11, 12, 13, 14])('comes to what is wanted, and no pod is ever doubled (seed %d)', async (seed) => {
    await using plane = await startWorkloads(seed);
    const random = seededRandom(seed);
    let replicas = 3;
    await plane.client.of(apps.Deployment).create(deploymentOf('web', { replicas }));
    const expectedCounts = new Map<string, number>();
    const surplus: string[] = [];
    using _sets = watchSets(plane, ({ metadata, spec }) => {
      expectedCounts.set(metadata.uid ?? '', Math.max(expectedCounts.get(metadata.uid ?? '') ?? 0, spec?.replicas ?? 0));
    });
    using _pods = watchPods(plane, (pods) => {
      for (const [uid, limit] of expectedCounts) {
        const own = pods.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
        if (own.length > limit) surplus.push(`${own.length} of ${limit}`);
      }
    });
    for (let step = 0; step < 12; step++) {
      replicas = await act(plane, random, replicas);
      await interfere(plane, random);
    }
    await edit(plane, (deployment) => ({ ...deployment, spec: { ...deployment.spec!, paused: false } }));
    await converge(plane, random, replicas);
    expect(surplus).toEqual([]);
    const { items } = await plane.client.of(apps.ReplicaSet).list({ namespace: NAMESPACE });
    expect(items.filter(({ spec }) => spec?.replicas !== 0)).toHaveLength(replicas === 0 ? 0 : 1);
    const deployment = await plane.client.of(apps.Deployment).get({ name: 'web', namespace: NAMESPACE });
    expect(deployment.status?.observedGeneration).toBe(deployment.metadata.generation);
    expect(deployment.status?.availableReplicas ?? 0).toBe(replicas);
  });
});

describe('a job with any history', () => {
  it.each([21, 22, 23, 24])('counts each of its pods once (seed %d)', async (seed) => {
    await using plane = await startWorkloads(seed);
    const random = seededRandom(seed);
    const [completions, parallelism] = [3 + random.int(6), 1 + random.int(4)];
    const template = { metadata: {}, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'img' }] } };
    const completionMode = random.int(2) === 0 ? 'Indexed' : 'NonIndexed';
    const spec = { completions, parallelism, completionMode, backoffLimit: 100, template };
    await plane.client.of(batch.Job).create({ metadata: { name: 'work', namespace: NAMESPACE }, spec });
    const jobs = plane.client.of(batch.Job);
    let failed = 0;
    await plane.until(async () => {
      failed += await endPods(plane, random);
      if (random.int(8) === 0) await plane.restartControllers();
      const { conditions } = (await jobs.get({ name: 'work', namespace: NAMESPACE })).status ?? {};
      return conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') === true;
    });
    const { status } = await jobs.get({ name: 'work', namespace: NAMESPACE });
    expect({ succeeded: status?.succeeded, failed: status?.failed ?? 0 }).toEqual({ succeeded: completions, failed });
    expect(status?.uncountedTerminatedPods).toEqual({});
    const { items } = await plane.client.of(core.Pod).list({ namespace: NAMESPACE });
    expect(items.filter(({ metadata }) => metadata.finalizers?.length)).toEqual([]);
  });
});

describe('a disruption budget', () => {
  it('allows as many evictions as pods are ready beyond what it demands', async () => {
    await using plane = await startWorkloads(31);
    await plane.client.of(apps.Deployment).create(deploymentOf('web', { replicas: 5 }));
    await converge(plane, seededRandom(31), 5);
    const spec = { maxUnavailable: '40%', selector: { matchLabels: { app: 'web' } } };
    const budgets = plane.client.of(policy.PodDisruptionBudget);
    await budgets.create({ metadata: { name: 'b', namespace: NAMESPACE }, spec });
    await plane.clock.advance(1000);
    const { status } = await budgets.get({ name: 'b', namespace: NAMESPACE });
    expect(status).toMatchObject({ expectedPods: 5, desiredHealthy: 3, currentHealthy: 5, disruptionsAllowed: 2 });
  });
});

describe('a node that falls silent', () => {
  it('becomes unknown after the grace period, and loses its pods when they no longer tolerate that', async () => {
    await using plane = await startWorkloads(41);
    for (const name of ['n1', 'n2']) await plane.client.of(core.Node).create({ metadata: { name } });
    const ready = (name: string) => updateNode(plane, name, [{ type: 'Ready', status: 'True' }]);
    await Promise.all(['n1', 'n2'].map(ready));
    const pods = plane.client.of(core.Pod);
    const tolerations = [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }];
    const spec = { nodeName: 'n1', tolerations, containers: [{ name: 'c', image: 'img' }] };
    await pods.create({ metadata: { name: 'p', namespace: NAMESPACE }, spec });
    const beat = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 10) {
        await ready('n2');
        await plane.clock.advance(10_000);
      }
    };
    await beat(40);
    const condition = async () =>
      (await plane.client.of(core.Node).get({ name: 'n1' })).status?.conditions?.find(({ type }) => type === 'Ready');
    expect(await condition()).toMatchObject({ status: 'True' });
    await beat(30);
    expect(await condition()).toMatchObject({ status: 'Unknown', reason: 'NodeStatusUnknown' });
    const deleted = async () => (await pods.get({ name: 'p', namespace: NAMESPACE })).metadata.deletionTimestamp !== undefined;
    await beat(280);
    expect(await deleted()).toBe(false);
    await beat(40);
    expect(await deleted()).toBe(true);
  });

  it('keeps its pods when no node can be heard: then it is we who are cut off', async () => {
    await using plane = await startWorkloads(42);
    for (const name of ['n1', 'n2']) {
      await plane.client.of(core.Node).create({ metadata: { name } });
      await updateNode(plane, name, [{ type: 'Ready', status: 'True' }]);
    }
    await plane.clock.advance(600_000);
    const { items } = await plane.client.of(core.Node).list();
    const effects = items.flatMap(({ spec }) => spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
    expect(new Set(effects)).toEqual(new Set(['node.kubernetes.io/unreachable:NoSchedule']));
  });
});

// --- random events -----------------------------------------------------------------------------------------------

function withImage(deployment: apps.Deployment, image: string): apps.Deployment {
  const spec = deployment.spec!;
  const containers = [{ ...spec.template.spec!.containers[0]!, image }];
  return { ...deployment, spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec!, containers } } } };
}

async function edit(plane: Plane, change: (deployment: apps.Deployment) => apps.Deployment): Promise<void> {
  const client = plane.client.of(apps.Deployment);
  for (;;) {
    try {
      await client.update(change(await client.get({ name: 'web', namespace: NAMESPACE })));
      return;
    } catch (error) {
      if ((error as { reason?: string }).reason !== 'Conflict') throw error;
    }
  }
}

/** Time advances, pods become ready, other clients write to the same objects, the controllers restart. */
async function interfere(plane: Plane, random: Random): Promise<void> {
  for (let i = random.int(4); i >= 0; i--) {
    await plane.clock.advance(random.int(3000));
    await actAsKubelet(plane, random, 0.5);
    if (random.int(4) === 0) await plane.restartControllers();
    if (random.int(2) === 0) {
      const { items } = await plane.client.of(apps.ReplicaSet).list({ namespace: NAMESPACE });
      const labels = { note: String(random.int(1000)) };
      for (const { metadata } of items) await plane.client.of(apps.ReplicaSet).patch(metadata, { metadata: { annotations: labels } });
    }
  }
}

async function act(plane: Plane, random: Random, replicas: number): Promise<number> {
  const parallelism = random.int(6);
  const pods = await podsOf(plane);
  switch (random.int(5)) {
    case 0:
      await edit(plane, (deployment) => withImage(deployment, `img:${random.int(3)}`));
      return replicas;
    case 1:
      await edit(plane, (deployment) => ({ ...deployment, spec: { ...deployment.spec!, replicas: parallelism } }));
      return parallelism;
    case 2:
      if (pods.length > 0) await plane.client.of(core.Pod).delete(random.pick(pods).metadata, { gracePeriodSeconds: 0 });
      return replicas;
    case 3:
      if (pods.length > 0)
        await plane.client.of(core.Pod).patch(random.pick(pods).metadata, { status: { phase: 'Failed' } }, { subresource: 'status' });
      return replicas;
    default:
      await edit(plane, (deployment) => ({ ...deployment, spec: { ...deployment.spec!, paused: deployment.spec?.paused !== true } }));
      return replicas;
  }
}

async function converge(plane: Plane, random: Random, replicas: number): Promise<void> {
  await plane.until(async () => {
    await actAsKubelet(plane, random, 1);
    const { status, metadata } = await plane.client.of(apps.Deployment).get({ name: 'web', namespace: NAMESPACE });
    const counts = [status?.replicas ?? 0, status?.updatedReplicas ?? 0, status?.availableReplicas ?? 0];
    return status?.observedGeneration === metadata.generation && counts.every((count) => count === replicas);
  });
}

/** Terminates some pods, successfully or not; returns the number of failed ones. */
async function endPods(plane: Plane, random: Random): Promise<number> {
  let failed = 0;
  for (const pod of await podsOf(plane)) {
    const phase = random.pick(['Running', 'Succeeded', 'Succeeded', 'Failed']);
    if (phase === 'Failed') failed++;
    await plane.client.of(core.Pod).patch(pod.metadata, { status: { phase } }, { subresource: 'status' });
  }
  return failed;
}

function watchPods(plane: Plane, look: (pods: readonly core.Pod[]) => void): Disposable {
  const pods = new Map<string, core.Pod>();
  let isComplete = false;
  return plane.client.of(core.Pod).watchInto(
    { namespace: NAMESPACE, sendInitialEvents: true },
    {
      event(type, pod) {
        const isGone =
          type === 'DELETED' || pod.metadata.deletionTimestamp !== undefined || ['Failed', 'Succeeded'].includes(pod.status?.phase ?? '');
        if (isGone) pods.delete(pod.metadata.name);
        else pods.set(pod.metadata.name, pod);
        if (isComplete) look([...pods.values()]);
      },
      bookmark() {
        isComplete = true;
      },
      error() {},
      end() {},
    },
  );
}

function watchSets(plane: Plane, look: (set: apps.ReplicaSet) => void): Disposable {
  const ignore = () => {};
  const sink = { event: (_: unknown, set: apps.ReplicaSet) => look(set), bookmark: ignore, error: ignore, end: ignore };
  return plane.client.of(apps.ReplicaSet).watchInto({ namespace: NAMESPACE, sendInitialEvents: true }, sink);
}
