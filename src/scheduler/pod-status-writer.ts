import { core } from '#api';
import type { Clock } from '#base';
import type { Client } from '#client';
import { formatTime } from '#machinery';

export interface PodConditionChange {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Changes of a pod's status. `nominatedNode`: '' clears the nomination, undefined keeps it. */
export interface PodStatusChange {
  readonly condition?: PodConditionChange;
  readonly nominatedNode?: string | undefined;
}

/** Patches the status of pods, and only when that changes anything. */
export class PodStatusWriter {
  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
  ) {}

  async write(pod: core.Pod, change: PodStatusChange): Promise<void> {
    const status = { ...this.#conditions(pod, change.condition), ...nomination(pod, change.nominatedNode) };
    if (Object.keys(status).length === 0) return;
    const { name, namespace, uid } = pod.metadata;
    const patch = { metadata: { uid }, status };
    await this.client.of(core.Pod).patch({ name, namespace }, patch, { type: 'strategic', subresource: 'status' });
  }

  #conditions(pod: core.Pod, condition: PodConditionChange | undefined): object {
    if (condition === undefined) return {};
    const current = (pod.status?.conditions ?? []).find(({ type }) => type === condition.type);
    const observedGeneration = pod.metadata.generation;
    const isSame =
      current?.status === condition.status &&
      current.reason === condition.reason &&
      current.message === condition.message &&
      current.observedGeneration === observedGeneration;
    if (isSame) return {};
    const lastTransitionTime = current?.status === condition.status ? current.lastTransitionTime : formatTime(this.clock.now());
    return { conditions: [{ ...condition, lastProbeTime: null, lastTransitionTime, ...(observedGeneration && { observedGeneration }) }] };
  }
}

function nomination({ status }: core.Pod, nominatedNode: string | undefined): object {
  if (nominatedNode === undefined || (status?.nominatedNodeName ?? '') === nominatedNode) return {};
  return { nominatedNodeName: nominatedNode === '' ? null : nominatedNode };
}
