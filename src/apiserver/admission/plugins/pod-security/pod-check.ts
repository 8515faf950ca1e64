import type { core } from '#api';

/** A pod, or a pod template. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: core.PodSpec;
}

export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type PodCheck = (pod: CheckedPod) => Violation | undefined;

/** A check since one version of the standards. */
export interface VersionedCheck {
  /** The minor version. */
  readonly since: number;
  readonly check: PodCheck;
}

export interface SecurityCheck {
  readonly id: string;
  /** The oldest version first. */
  readonly versions: readonly VersionedCheck[];
  /** The check of the lower level that this one replaces. */
  readonly overrides?: string;
}

type Container = core.Container;

export function containersOf({ spec }: CheckedPod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...((spec.ephemeralContainers ?? []) as readonly Container[])];
}

/** The names of the matching containers. */
export function namesOf(pod: CheckedPod, holds: (container: Container) => boolean): readonly string[] {
  return containersOf(pod)
    .filter(holds)
    .map(({ name }) => name);
}

export function quoted(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(', ');
}

export function plural(items: readonly unknown[], singular: string, many = `${singular}s`): string {
  return items.length === 1 ? singular : many;
}

/** `container "a"`, `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${plural(names, 'container')} ${quoted(names)}`;
}

/** Whether the pod or which containers set the field, for the message; empty if none did. */
export function settersText(byPod: boolean, names: readonly string[]): string {
  return [...(byPod ? ['pod'] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(' and ');
}

export function sortedSet(items: readonly string[]): readonly string[] {
  return [...new Set(items)].toSorted();
}

/** In a user namespace, root in the pod is unprivileged on the node. */
export function hasUserNamespace({ spec }: CheckedPod): boolean {
  return spec.hostUsers === false;
}

export function isWindows({ spec }: CheckedPod): boolean {
  return spec.os?.name === 'windows';
}

/** The check, except for exempt pods. */
export function exemptWhen(isExempt: (pod: CheckedPod) => boolean, check: PodCheck): PodCheck {
  return (pod) => (isExempt(pod) ? undefined : check(pod));
}
