import type { core } from '#api';

export type CgroupDriver = 'cgroupfs' | 'systemd';

/** The cgroup paths of pods: below the node's root by QoS class. */
export class CgroupNames {
  constructor(
    private readonly driver: CgroupDriver,
    /** As `--cgroup-root`: `/` or a path below it. */
    private readonly root: string,
  ) {}

  /** Path segments, before the cgroup driver formats them. */
  podParts(pod: core.Pod): readonly string[] {
    return [...this.qosParts(pod.status?.qosClass), `pod${pod.metadata.uid ?? ''}`];
  }

  qosParts(qosClass: string | undefined): readonly string[] {
    const rootParts = this.root.split('/').filter((part) => part !== '');
    const base = [...rootParts, 'kubepods'];
    return qosClass === 'Guaranteed' ? base : [...base, qosClass === 'Burstable' ? 'burstable' : 'besteffort'];
  }

  /** In the form that runtimes expect. */
  parent(parts: readonly string[]): string {
    return this.driver === 'systemd' ? (slices(parts).at(-1) ?? '') : `/${parts.join('/')}`;
  }

  /** Relative to the mount point of a hierarchy. */
  path(parts: readonly string[]): string {
    return this.driver === 'systemd' ? slices(parts).join('/') : parts.join('/');
  }
}

/** systemd slice names contain all their parents: `kubepods.slice`, `kubepods-burstable.slice`. */
function slices(parts: readonly string[]): readonly string[] {
  const escaped = parts.map((part) => part.replaceAll('-', '_'));
  return escaped.map((_, index) => `${escaped.slice(0, index + 1).join('-')}.slice`);
}
