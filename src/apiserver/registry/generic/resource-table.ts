import type { ResourceStorage } from './resource-storage.ts';
import { isStored, type ServedResource, type StoredResource } from './served-resource.ts';

/** All served resources by path. Custom resources are added and removed while the server runs. */
export class ResourceTable {
  readonly #byPath = new Map<string, ServedResource>();
  readonly #hidden = new Map<string, ServedResource>();
  readonly #groups = new Map<string, Set<string>>();
  /** Computed lazily after a change. */
  readonly #sortedVersions = new Map<string, readonly string[]>();
  readonly #preferred = new Map<string, Map<string, ServedResource | undefined>>();
  #generation = 0;

  /** Increases with every change: derived data is rebuilt. */
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

  /** Resources that are not served, but whose storage the server uses. */
  hide(...resources: readonly ServedResource[]): void {
    for (const resource of resources) this.#hidden.set(pathOf(resource), resource);
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

  /** Throws for unknown resources and those without storage. */
  stored(group: string, version: string, resource: string): StoredResource {
    const served = this.find(group, version, resource) ?? this.#hidden.get(`${group}/${version}/${resource}`);
    if (served === undefined || !isStored(served)) throw new Error(`${resource} are not served`);
    return served;
  }

  storage(group: string, version: string, resource: string): ResourceStorage {
    return this.stored(group, version, resource).storage;
  }

  /** In the group's most preferred version that contains it. */
  findPreferred(group: string, resource: string): ServedResource | undefined {
    let cached = this.#preferred.get(group);
    if (cached === undefined) {
      cached = new Map();
      this.#preferred.set(group, cached);
    }
    if (!cached.has(resource)) cached.set(resource, this.#inPreferredVersion(group, resource));
    return cached.get(resource);
  }

  #inPreferredVersion(group: string, resource: string): ServedResource | undefined {
    for (const version of this.versions(group)) {
      const served = this.find(group, version, resource);
      if (served !== undefined) return served;
    }
    return undefined;
  }

  /** The resource of a kind. */
  findKind(group: string, version: string, kind: string): ServedResource | undefined {
    for (const resource of this.#byPath.values()) {
      if (resource.kind === kind && resource.group === group && resource.version === version) return resource;
    }
    return undefined;
  }

  hasGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  /** Whether a group has built-in kinds; upstream's response for unknown paths of other groups is that of unknown groups. */
  hasBuiltInGroup(group: string): boolean {
    return this.versions(group).some((version) => this.inVersion(group, version).some(({ custom }) => !custom));
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

  /** The storages of all resources, served or not. */
  storages(): Iterable<ResourceStorage> {
    const all = [...this.#byPath.values(), ...this.#hidden.values()];
    return new Set(all.flatMap(({ storage }) => storage ?? []));
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

/** GA before beta before alpha, newest first; other names last, in lexical order. */
export function byVersionPriority(a: string, b: string): number {
  const x = rankOf(a);
  const y = rankOf(b);
  if (x.isKubeLike !== y.isKubeLike) return x.isKubeLike ? -1 : 1;
  if (!x.isKubeLike) return a < b ? -1 : 1;
  return y.stage - x.stage || y.major - x.major || y.minor - x.minor;
}
