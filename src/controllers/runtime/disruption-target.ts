import { core } from '#api';
import type { Client } from '#client';
import { findCondition } from '#machinery';

/** Sets the DisruptionTarget condition before a controller deletes the pod, unless it is set. */
export async function markDisruptionTarget(
  pod: core.Pod,
  condition: Omit<core.PodCondition, 'type' | 'status'>,
  client: Client,
): Promise<void> {
  if (findCondition(pod.status?.conditions, 'DisruptionTarget')?.status === 'True') return;
  const { name, namespace, uid } = pod.metadata;
  const patch = { metadata: { uid }, status: { conditions: [{ type: 'DisruptionTarget', status: 'True', ...condition }] } };
  await client.of(core.Pod).patch({ name, namespace }, patch, { type: 'strategic', subresource: 'status' });
}
