import type { core } from '#api';
import { type EventRecorder, type EventText, referenceTo } from '#client';

type Role = 'containers' | 'initContainers' | 'ephemeralContainers';

/** The kubelet's events about a pod and its containers, which are identified by their field path. */
export class PodEvents {
  constructor(
    private readonly recorder: EventRecorder,
    private readonly pod: () => core.Pod,
  ) {}

  normal(container: string | undefined, reason: string, message: string): void {
    this.recorder.record(this.#target(container), { type: 'Normal', reason, message });
  }

  warning(container: string | undefined, reason: string, message: string): void {
    this.recorder.record(this.#target(container), { type: 'Warning', reason, message });
  }

  /** About the pod itself. */
  record(event: EventText): void {
    this.recorder.record(this.#target(undefined), event);
  }

  #target(container: string | undefined): core.ObjectReference {
    const pod = this.pod();
    const reference = referenceTo({ kind: 'Pod', apiVersion: 'v1', ...pod });
    if (container === undefined) return reference;
    return { ...reference, fieldPath: `spec.${roleOf(pod, container)}{${container}}` };
  }
}

function roleOf({ spec }: core.Pod, container: string): Role {
  if ((spec?.initContainers ?? []).some(({ name }) => name === container)) return 'initContainers';
  return (spec?.ephemeralContainers ?? []).some(({ name }) => name === container) ? 'ephemeralContainers' : 'containers';
}
