import type { Container, Sandbox } from '../cri/runtime.ts';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';

export interface ContainerFacts {
  readonly containers: readonly Container[];
  readonly sandboxes: readonly Sandbox[];
  /** Pods with a worker; everything of other pods is garbage. */
  readonly livePods: ReadonlySet<string>;
  /** Pods that have ended for good. */
  readonly endedPods: ReadonlySet<string>;
  /** Also collect everything of ended pods. */
  readonly isPressing: boolean;
}

export interface ContainerGarbage {
  readonly containers: readonly Container[];
  readonly sandboxes: readonly Sandbox[];
}

/** How many dead containers of a name each pod keeps, for their logs: upstream's `maximum-dead-containers-per-container`. */
const MAX_DEAD_PER_CONTAINER = 1;

/** The containers and sandboxes that can be removed. Those without pod labels are not the kubelet's. Pure. */
export function containerGarbage(facts: ContainerFacts): ContainerGarbage {
  const isGone = (uid: string) => !facts.livePods.has(uid) || (facts.isPressing && facts.endedPods.has(uid));
  const ended = facts.containers.filter(
    (container) => podOf(container) !== undefined && container.state !== 'running' && container.state !== 'created',
  );
  const retainedCounts = new Map<string, number>();
  const containers = ended.toSorted(newestFirst).filter((container) => {
    const uid = podOf(container) as string;
    const name = `${uid}/${container.labels[CONTAINER_NAME]}`;
    const newer = retainedCounts.get(name) ?? 0;
    retainedCounts.set(name, newer + 1);
    return isGone(uid) || newer >= MAX_DEAD_PER_CONTAINER;
  });
  const removed = new Set(containers.map(({ id }) => id));
  const occupied = new Set(facts.containers.filter(({ id }) => !removed.has(id)).map(({ sandboxId }) => sandboxId));
  return { containers, sandboxes: unusedSandboxes(facts.sandboxes, { isGone, occupied }) };
}

/** Sandboxes without containers, except the last one of a live pod. */
function unusedSandboxes(
  sandboxes: readonly Sandbox[],
  { isGone, occupied }: { readonly isGone: (uid: string) => boolean; readonly occupied: ReadonlySet<string> },
): readonly Sandbox[] {
  const latest = new Map(sandboxes.toSorted((a, b) => a.createdAtMs - b.createdAtMs).map((sandbox) => [podOf(sandbox), sandbox.id]));
  return sandboxes.filter((sandbox) => {
    const uid = podOf(sandbox);
    if (uid === undefined || sandbox.state === 'ready' || occupied.has(sandbox.id)) return false;
    return isGone(uid) || latest.get(uid) !== sandbox.id;
  });
}

function newestFirst(a: Container, b: Container): number {
  return b.createdAtMs - a.createdAtMs;
}

function podOf({ labels }: Container | Sandbox): string | undefined {
  return labels[POD_UID];
}

/** The uid in a log directory's name, `NAMESPACE_NAME_UID`; undefined: not a pod's directory. */
export function podOfLogDirectory(name: string): string | undefined {
  const parts = name.split('_');
  return parts.length === 3 ? parts[2] : undefined;
}
