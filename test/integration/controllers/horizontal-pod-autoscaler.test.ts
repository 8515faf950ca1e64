import { describe, expect, it } from 'vitest';
import { apiextensions, apps, autoscalingV2, core } from '#api';
import { formatTime } from '#machinery';
import type { ControlPlane } from '../control-plane.ts';
import { startControlPlane } from '../control-plane.ts';

const ONLY = { controllers: ['horizontal-pod-autoscaler-controller'] };
const PERIOD_MS = 15_000;
const namespace = 'default';

async function createTarget({ client }: ControlPlane, replicas: number): Promise<void> {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await client.of(apps.Deployment).create({
    metadata: { name: 'web', namespace },
    spec: { replicas, selector: { matchLabels: labels }, template },
  });
}

async function createAutoscaler({ client }: ControlPlane, spec: Partial<autoscalingV2.HorizontalPodAutoscalerSpec> = {}): Promise<void> {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  await client.of(autoscalingV2.HorizontalPodAutoscaler).create({
    metadata: { name: 'h', namespace },
    spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 4, ...spec },
  });
}

const autoscalerOf = ({ client }: ControlPlane) => client.of(autoscalingV2.HorizontalPodAutoscaler).get({ name: 'h', namespace });

async function replicasOf({ client }: ControlPlane): Promise<number | undefined> {
  return (await client.of(apps.Deployment).get({ name: 'web', namespace })).spec?.replicas;
}

async function eventsOf({ client }: ControlPlane): Promise<string[]> {
  const { items } = await client.of(core.Event).list({ namespace });
  return items.map(({ reason, message }) => `${reason}: ${message}`).sort();
}

const POD_METRICS = { group: 'metrics.k8s.io', version: 'v1beta1', resource: 'pods', namespaced: true, kind: 'PodMetrics' };

const cpuMetric = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

/** Custom resources in place of a metrics server's API. */
async function serveMetrics({ client, clock }: ControlPlane): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.of(apiextensions.CustomResourceDefinition).create({
    metadata: { name: 'pods.metrics.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' } },
    spec: {
      group: POD_METRICS.group,
      scope: 'Namespaced',
      names: { plural: 'pods', kind: 'PodMetrics' },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema }],
    },
  });
  await clock.advance(10_000);
}

async function createPods({ client, clock }: ControlPlane, names: readonly string[]): Promise<void> {
  const time = formatTime(clock.now());
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: time }];
  for (const name of names) {
    const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }];
    await client.of(core.Pod).create({ metadata: { name, namespace, labels: { app: 'web' } }, spec: { nodeName: 'n', containers } });
    const status = { phase: 'Running', startTime: time, conditions };
    await client.of(core.Pod).patch({ name, namespace }, { status }, { subresource: 'status' });
  }
}

async function measure({ client, clock }: ControlPlane, usage: Readonly<Record<string, string>>): Promise<void> {
  const resource = client.resource(POD_METRICS);
  for (const [name, cpu] of Object.entries(usage)) {
    await resource.delete({ name, namespace }).catch(() => {});
    const measured = { timestamp: formatTime(clock.now()), window: '15s', containers: [{ name: 'c', usage: { cpu } }] };
    await resource.create({
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'PodMetrics',
      metadata: { name, namespace, labels: { app: 'web' } },
      ...measured,
    });
  }
}

describe('an autoscaler', () => {
  it.each([
    [1, 2, 'Current number of replicas below Spec.MinReplicas'],
    [9, 4, 'Current number of replicas above Spec.MaxReplicas'],
  ])('brings %i replicas into its bounds', async (before, after, reason) => {
    await using plane = await startControlPlane(ONLY);
    await createTarget(plane, before);
    await createAutoscaler(plane);
    await plane.clock.advance(PERIOD_MS + 1000);
    expect(await replicasOf(plane)).toBe(after);
    const { status } = await autoscalerOf(plane);
    expect(status).toMatchObject({ currentReplicas: before, desiredReplicas: after });
    expect(status?.conditions).toMatchObject([{ type: 'AbleToScale', status: 'True', reason: 'SucceededRescale' }]);
    expect(await eventsOf(plane)).toEqual([`SuccessfulRescale: New size: ${after}; reason: ${reason}`]);
  });

  it('says of each metric why it cannot be had, and leaves the replicas alone', async () => {
    await using plane = await startControlPlane(ONLY);
    await createTarget(plane, 3);
    const target = { type: 'AverageValue', averageValue: '1' };
    const describedObject = { apiVersion: 'v1', kind: 'Service', name: 's' };
    await createAutoscaler(plane, {
      metrics: [
        { type: 'Object', object: { describedObject, metric: { name: 'hits' }, target } },
        { type: 'External', external: { metric: { name: 'queue' }, target } },
      ],
    });
    await plane.clock.advance(PERIOD_MS + 1000);
    expect(await replicasOf(plane)).toBe(3);
    const noCustom = 'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered';
    const noExternal =
      'unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)';
    const { status, metadata } = await autoscalerOf(plane);
    expect(status).toMatchObject({ currentReplicas: 3, desiredReplicas: 0, currentMetrics: [{ type: '' }, { type: '' }] });
    expect(status?.conditions?.[1]).toMatchObject({ type: 'ScalingActive', status: 'False', reason: 'FailedGetObjectMetric' });
    expect(await eventsOf(plane)).toEqual([
      `FailedComputeMetricsReplicas: invalid metrics (2 invalid out of 2), first error is: failed to get object metric value: failed to get hits object metric: unable to get metric hits: Service on default s/${noCustom}`,
      `FailedGetExternalMetric: unable to get external metric default/queue/nil: ${noExternal}`,
      `FailedGetObjectMetric: unable to get metric hits: Service on default s/${noCustom}`,
    ]);
    // An unchanged status is not written again.
    await plane.clock.advance(10 * PERIOD_MS);
    expect((await autoscalerOf(plane)).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it('follows what its pods use, up at once and down when it has been less for long enough', async () => {
    // Pods need a service account.
    await using plane = await startControlPlane({ controllers: [...ONLY.controllers, 'serviceaccount-controller'] });
    await serveMetrics(plane);
    await createTarget(plane, 2);
    await plane.client.of(apps.Deployment).patch({ name: 'web', namespace }, { status: { replicas: 2 } }, { subresource: 'status' });
    await createPods(plane, ['a', 'b']);
    await createAutoscaler(plane, { metrics: [cpuMetric(50)] });
    // A pod's usage counts only some time after its start.
    await plane.clock.advance(600_000);
    await measure(plane, { a: '90m', b: '60m' });
    await plane.clock.advance(PERIOD_MS + 1000);
    expect(await replicasOf(plane)).toBe(3);
    const { status } = await autoscalerOf(plane);
    expect(status?.currentMetrics).toEqual([
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 75, averageValue: '75m' } } },
    ]);
    expect(status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'AbleToScale SucceededRescale',
      'ScalingActive ValidMetricFound',
      'ScalingLimited DesiredWithinRange',
    ]);
    expect(await eventsOf(plane)).toContain(
      'SuccessfulRescale: New size: 3; reason: cpu resource utilization (percentage of request) above target',
    );
    await measure(plane, { a: '10m', b: '10m' });
    await plane.clock.advance(60_000);
    expect(await replicasOf(plane)).toBe(3);
    expect((await autoscalerOf(plane)).status?.conditions?.[0]?.reason).toBe('ScaleDownStabilized');
    await plane.clock.advance(400_000);
    expect(await replicasOf(plane)).toBe(2);
  });

  it.each<[string, autoscalingV2.CrossVersionObjectReference, string]>([
    ['that is not there', { apiVersion: 'apps/v1', kind: 'Deployment', name: 'no' }, 'deployments.apps "no" not found'],
    ['of no known kind', { apiVersion: 'x.io/v1', kind: 'Ship', name: 'no' }, 'no matches for kind "Ship" in group "x.io"'],
    ['without a size', { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'no' }, 'the server could not find the requested resource'],
  ])('cannot scale a target %s', async (_name, scaleTargetRef, problem) => {
    await using plane = await startControlPlane(ONLY);
    await createAutoscaler(plane, { scaleTargetRef });
    await plane.clock.advance(PERIOD_MS + 1000);
    const message = `the HPA controller was unable to get the target's current scale: ${problem}`;
    const { status } = await autoscalerOf(plane);
    expect(status?.conditions).toMatchObject([{ type: 'AbleToScale', status: 'False', reason: 'FailedGetScale', message }]);
    expect(await eventsOf(plane)).toEqual([`FailedGetScale: ${problem}`]);
  });
});
