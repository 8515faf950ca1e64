import { describe, expect, it } from 'vitest';
import { apps, autoscalingV2, core } from '#api';
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
    // What stays as it is is not written again.
    await plane.clock.advance(10 * PERIOD_MS);
    expect((await autoscalerOf(plane)).metadata.resourceVersion).toBe(metadata.resourceVersion);
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
