import type { ServedResource } from './served-resource.ts';

/** Every resource the server serves, by path. Changes while it runs: custom resources come and go. */
export class ResourceTable {
  readonly #byPath = new Map<string, ServedResource>();
  readonly #groups = new Map<string, Set<string>>();
  /** Made when first asked for after a change. */
  readonly #sortedVersions = new Map<string, readonly string[]>();
  readonly #preferred = new Map<string, Map<string, ServedResource | undefined>>();
  #generation = 0;

  /** Grows with every change: what is derived from the table is made again when it has. */
  get generation(): number {
    return this.#generation;
  }

  add(...resources: readonly ServedResource[]): void {
    for (const resource of resources) {
      this.#byPath.set(pathOf(resource), resource);
      const versions = this.#groups.get(resource.group) ?? new Set();
      this.#groups.set(resource.group, versions.add(resource.version));
    }
    this.#changed();
  }

  remove(...resources: readonly ServedResource[]): void {
    for (const resource of resources) {
      if (this.#byPath.get(pathOf(resource)) === resource) this.#byPath.delete(pathOf(resource));
    }
    this.#rebuildGroups();
    this.#changed();
  }

  #changed(): void {
    this.#sortedVersions.clear();
    this.#preferred.clear();
    this.#generation++;
  }

  #rebuildGroups(): void {
    this.#groups.clear();
    for (const { group, version } of this.#byPath.values()) this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(version));
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#byPath.get(`${group}/${version}/${resource}`);
  }

  /** In the preferred version of its group. */
  findPreferred(group: string, resource: string): ServedResource | undefined {
    let known = this.#preferred.get(group);
    if (known === undefined) {
      known = new Map();
      this.#preferred.set(group, known);
    }
    if (!known.has(resource)) known.set(resource, this.#inPreferredVersion(group, resource));
    return known.get(resource);
  }

  #inPreferredVersion(group: string, resource: string): ServedResource | undefined {
    const [version] = this.versions(group);
    return version === undefined ? undefined : this.find(group, version, resource);
  }

  /** By kind: what an object's apiVersion and kind name. */
  findKind(group: string, version: string, kind: string): ServedResource | undefined {
    for (const resource of this.#byPath.values()) {
      if (resource.kind === kind && resource.group === group && resource.version === version) return resource;
    }
    return undefined;
  }

  hasGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  groups(): readonly string[] {
    return [...this.#groups.keys()];
  }

  /** Versions of a group, the preferred one first. */
  versions(group: string): readonly string[] {
    let sorted = this.#sortedVersions.get(group);
    if (sorted === undefined) {
      sorted = [...(this.#groups.get(group) ?? [])].sort(byVersionPriority);
      this.#sortedVersions.set(group, sorted);
    }
    return sorted;
  }

  all(): Iterable<ServedResource> {
    return this.#byPath.values();
  }

  inVersion(group: string, version: string): readonly ServedResource[] {
    return [...this.#byPath.values()].filter((resource) => resource.group === group && resource.version === version);
  }
}

function pathOf({ group, version, resource }: ServedResource): string {
  return `${group}/${version}/${resource}`;
}

const STAGES = ['alpha', 'beta', ''];

interface VersionRank {
  readonly isKubeLike: boolean;
  readonly stage: number;
  readonly major: number;
  readonly minor: number;
}

function rankOf(version: string): VersionRank {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return { isKubeLike: false, stage: 0, major: 0, minor: 0 };
  return { isKubeLike: true, stage: STAGES.indexOf(match[2] ?? ''), major: Number(match[1]), minor: Number(match[3] ?? 0) };
}

/** GA before beta before alpha, the newest of each first; names of another form last, in their own order. */
export function byVersionPriority(a: string, b: string): number {
  const x = rankOf(a);
  const y = rankOf(b);
  if (x.isKubeLike !== y.isKubeLike) return x.isKubeLike ? -1 : 1;
  if (!x.isKubeLike) return a < b ? -1 : 1;
  return y.stage - x.stage || y.major - x.major || y.minor - x.minor;
}
