import { apps, core } from '#api';
import { realClock } from '#base';
import { startCluster } from '#testing';

export const REHEARSED_NODES = 500;
export const REHEARSED_PODS = 10_000;
const LABELS = { app: 'web' };
const AT = { name: 'web', namespace: 'default' };
const POD_SPEC = { containers: [{ name: 'main', image: 'web:1', resources: { requests: { cpu: '10m', memory: '64Mi' } } }] };

/** Seconds of virtual time until a Deployment of production size is available. */
export async function rehearse(): Promise<number> {
  await using cluster = await startCluster({ nodes: REHEARSED_NODES, clock: 'virtual' });
  const { client, clock } = cluster;
  const since = realClock.monotonic();
  const template = { metadata: { labels: LABELS }, spec: POD_SPEC };
  const spec = { replicas: REHEARSED_PODS, selector: { matchLabels: LABELS }, template };
  await clock.until(client.of(apps.Deployment).create({ metadata: AT, spec }));
  const isAvailable = async () => (await client.of(apps.Deployment).get(AT)).status?.availableReplicas === REHEARSED_PODS;
  await cluster.waitFor(isAvailable, { within: '30m', what: `${REHEARSED_PODS} pods` });
  return (realClock.monotonic() - since) / 1000;
}

/** The same number of pods as objects only, without scheduling. */
export async function createOnly(): Promise<number> {
  await using cluster = await startCluster({ nodes: 0, clock: 'virtual' });
  const pods = cluster.client.of(core.Pod);
  const since = realClock.monotonic();
  const create = (i: number) =>
    pods.create({ metadata: { name: `web-${i}`, namespace: 'default', labels: LABELS }, spec: { ...POD_SPEC, schedulerName: 'nobody' } });
  await cluster.clock.until(Promise.all(Array.from({ length: REHEARSED_PODS }, (_, i) => create(i))));
  return (realClock.monotonic() - since) / 1000;
}
