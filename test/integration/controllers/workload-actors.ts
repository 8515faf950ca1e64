import { type apps, core } from '#api';
import type { Random } from '#base';
import type { Draft } from '#client';
import { formatTime } from '#machinery';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';

export type Plane = ControlPlane;

const CONTROLLERS = ['*', '-garbage-collector-controller'];

export function startWorkloads(seed: number): Promise<Plane> {
  return startControlPlane({ seed, controllers: CONTROLLERS });
}

export function deploymentOf(name: string, spec: Partial<apps.DeploymentSpec>): Draft<apps.Deployment> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'img:0' }] } };
  return { metadata: { name, namespace: 'default' }, spec: { selector: { matchLabels: labels }, template, ...spec } };
}

export function isReady({ status }: core.Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

/** Pods that are not terminated. */
export async function podsOf({ client }: Plane): Promise<readonly core.Pod[]> {
  const { items } = await client.of(core.Pod).list({ namespace: 'default' });
  const hasEnded = ({ status }: core.Pod) => status?.phase === 'Failed' || status?.phase === 'Succeeded';
  return items.filter((pod) => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined);
}

/** Makes a share of the pending pods ready. */
export async function actAsKubelet(plane: Plane, random: Random, share: number): Promise<void> {
  const lastTransitionTime = formatTime(plane.clock.now());
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
  for (const pod of await podsOf(plane)) {
    if (isReady(pod) || random.float() >= share) continue;
    await plane.client
      .of(core.Pod)
      .patch(pod.metadata, { status: { phase: 'Running', conditions } }, { type: 'strategic', subresource: 'status' })
      .catch((error: { reason?: string }) => {
        if (error.reason !== 'NotFound') throw error;
      });
  }
}

export async function updateNode(plane: Plane, name: string, newConditions: readonly { type: string; status: string }[]): Promise<void> {
  const time = formatTime(plane.clock.now());
  const conditions = newConditions.map((condition) => ({ ...condition, lastHeartbeatTime: time, lastTransitionTime: time }));
  await plane.client.of(core.Node).patch({ name }, { status: { conditions } }, { type: 'strategic', subresource: 'status' });
}
