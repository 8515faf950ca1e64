import type { core } from '#api';

/** What checks look at: a pod, or the template of one. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: core.PodSpec;
}

export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type PodCheck = (pod: CheckedPod) => Violation | undefined;

/** A check as it is from one version of the standards on. */
export interface VersionedCheck {
  /** The minor version. */
  readonly since: number;
  readonly check: PodCheck;
}

export interface SecurityCheck {
  readonly id: string;
  /** The oldest version first. */
  readonly versions: readonly VersionedCheck[];
  /** The check of the level below that this one stands in for. */
  readonly overrides?: string;
}

type Container = core.Container;

export function containersOf({ spec }: CheckedPod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...((spec.ephemeralContainers ?? []) as readonly Container[])];
}

/** The names of the containers of which something holds. */
export function namesOf(pod: CheckedPod, holds: (container: Container) => boolean): readonly string[] {
  return containersOf(pod)
    .filter(holds)
    .map(({ name }) => name);
}

export function quoted(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(', ');
}

export function plural(items: readonly unknown[], one: string, many = `${one}s`): string {
  return items.length === 1 ? one : many;
}

/** `container "a"`, `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${plural(names, 'container')} ${quoted(names)}`;
}

/** Who set something, the pod itself or some of its containers; empty when nobody did. */
export function settersText(byPod: boolean, names: readonly string[]): string {
  return [...(byPod ? ['pod'] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(' and ');
}

export function sortedSet(items: readonly string[]): readonly string[] {
  return [...new Set(items)].toSorted();
}

/** In a user namespace of its own, a pod's root is nobody on the node. */
export function hasOwnUsers({ spec }: CheckedPod): boolean {
  return spec.hostUsers === false;
}

export function isWindows({ spec }: CheckedPod): boolean {
  return spec.os?.name === 'windows';
}

/** The check, but for pods that are exempt from it. */
export function unless(isExempt: (pod: CheckedPod) => boolean, check: PodCheck): PodCheck {
  return (pod) => (isExempt(pod) ? undefined : check(pod));
}
