import { core } from '#api';
import type { CacheFollower } from '../../watch-cache/cache-followers.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';

/** Resources that a node may access through the pods that run on it. */
export type RelatedResource =
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'pods'
  | 'podcertificaterequests'
  | 'resourceclaims'
  | 'resourceslices'
  | 'secrets'
  | 'serviceaccounts'
  | 'volumeattachments';

const MIRROR_POD = 'kubernetes.io/config.mirror';

/** Which objects each node may access. Each part follows one resource; lookups are constant-time. */
export class NodeGraph {
  readonly #used = new Uses();
  readonly #pods = new PodFollower(this.#used);
  readonly #volumes = new VolumeFollower();
  readonly #attachments = new NodeNameFollower(nodeNameInSpec);
  readonly #slices = new NodeNameFollower(nodeNameInSpec);
  readonly #certificateRequests = new NodeNameFollower(nodeNameInSpec);

  get followers(): Readonly<
    Record<'pods' | 'persistentVolumes' | 'volumeAttachments' | 'resourceSlices' | 'podCertificateRequests', CacheFollower>
  > {
    return {
      pods: this.#pods,
      persistentVolumes: this.#volumes,
      volumeAttachments: this.#attachments,
      resourceSlices: this.#slices,
      podCertificateRequests: this.#certificateRequests,
    };
  }

  isRelated(node: string, resource: RelatedResource, { namespace, name }: { namespace: string; name: string }): boolean {
    switch (resource) {
      case 'persistentvolumes':
        return this.#usesVolume(node, name);
      case 'secrets':
        return (
          this.#used.has(useKey(resource, namespace, name), node) ||
          this.#volumes.withSecret(namespace, name).some((volume) => this.#usesVolume(node, volume))
        );
      case 'volumeattachments':
        return this.#attachments.nodeOf('', name) === node;
      case 'resourceslices':
        return this.#slices.nodeOf('', name) === node;
      case 'podcertificaterequests':
        return this.#certificateRequests.nodeOf(namespace, name) === node;
      default:
        return this.#used.has(useKey(resource, namespace, name), node);
    }
  }

  #usesVolume(node: string, volume: string): boolean {
    const claim = this.#volumes.claimOf(volume);
    return claim !== undefined && this.#used.has(claim, node);
  }
}

function useKey(resource: RelatedResource, namespace: string, name: string): string {
  return `${resource}/${namespace}/${name}`;
}

/** How many pods of each node use an object. */
class Uses {
  readonly #counts = new Map<string, Map<string, number>>();

  has(key: string, node: string): boolean {
    return this.#counts.get(key)?.has(node) ?? false;
  }

  add(key: string, node: string, by: 1 | -1): void {
    const nodes = this.#counts.get(key) ?? new Map<string, number>();
    const count = (nodes.get(node) ?? 0) + by;
    if (count > 0) this.#counts.set(key, nodes.set(node, count));
    else {
      nodes.delete(node);
      if (nodes.size === 0) this.#counts.delete(key);
    }
  }

  clear(): void {
    this.#counts.clear();
  }
}

interface PodUse {
  readonly node: string;
  /** Changes if any field that the graph uses changes. */
  readonly mark: string;
  readonly keys: readonly string[];
}

class PodFollower implements CacheFollower {
  readonly #uses: Uses;
  readonly #byKey = new Map<string, PodUse>();

  constructor(uses: Uses) {
    this.#uses = uses;
  }

  put(key: string, object: KubeObject): void {
    const pod = object as unknown as core.Pod;
    const node = pod.spec?.nodeName ?? '';
    const mark = markOf(pod);
    if (this.#byKey.get(key)?.mark === mark) return;
    this.remove(key);
    if (node === '') return;
    const use = { node, mark, keys: usedBy(pod).slice() };
    this.#byKey.set(key, use);
    for (const used of use.keys) this.#uses.add(used, node, 1);
  }

  remove(key: string): void {
    const use = this.#byKey.get(key);
    if (use === undefined) return;
    this.#byKey.delete(key);
    for (const used of use.keys) this.#uses.add(used, use.node, -1);
  }
}

/** Only these fields affect a pod's references: most updates are status updates and are skipped. */
function markOf({ metadata, spec, status }: core.Pod): string {
  const claims = status?.resourceClaimStatuses?.map(({ name, resourceClaimName }) => `${name}=${resourceClaimName}`).join() ?? '';
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName ?? '';
  return `${metadata?.uid}/${spec?.nodeName}/${spec?.ephemeralContainers?.length ?? 0}/${claims}/${extended}`;
}

function usedBy(pod: core.Pod): readonly string[] {
  const { namespace = '', name = '', annotations } = pod.metadata ?? {};
  const own = useKey('pods', namespace, name);
  // A node creates its mirror pods itself: they must not give it access to anything.
  if (annotations?.[MIRROR_POD] !== undefined) return [own];
  const keys = (resource: RelatedResource, names: readonly string[]) => names.map((used) => useKey(resource, namespace, used));
  const account = pod.spec?.serviceAccountName ?? '';
  return [
    own,
    ...keys('serviceaccounts', account === '' ? [] : [account]),
    ...keys('secrets', core.podSecretNames(pod)),
    ...keys('configmaps', core.podConfigMapNames(pod)),
    ...keys('persistentvolumeclaims', core.podClaimNames(pod)),
    ...keys('resourceclaims', core.podResourceClaimNames(pod)),
  ];
}

interface VolumeUse {
  readonly name: string;
  readonly claim: string;
  readonly secrets: readonly string[];
}

/** Volumes by name and by their mount secrets. Only bound ones count. */
class VolumeFollower implements CacheFollower {
  readonly #byKey = new Map<string, VolumeUse>();
  readonly #byName = new Map<string, VolumeUse>();
  readonly #bySecret = new Map<string, Set<string>>();

  put(key: string, object: KubeObject): void {
    this.remove(key);
    const volume = object as unknown as core.PersistentVolume;
    const { claimRef } = volume.spec ?? {};
    if (claimRef === undefined) return;
    const claim = useKey('persistentvolumeclaims', claimRef.namespace ?? '', claimRef.name ?? '');
    const secrets = core.volumeSecrets(volume).map(({ namespace, name }) => `${namespace}/${name}`);
    const use = { name: object.metadata.name, claim, secrets };
    this.#byKey.set(key, use);
    this.#byName.set(use.name, use);
    for (const secret of secrets) this.#bySecret.set(secret, (this.#bySecret.get(secret) ?? new Set()).add(use.name));
  }

  remove(key: string): void {
    const use = this.#byKey.get(key);
    if (use === undefined) return;
    this.#byKey.delete(key);
    this.#byName.delete(use.name);
    for (const secret of use.secrets) this.#bySecret.get(secret)?.delete(use.name);
  }

  claimOf(volume: string): string | undefined {
    return this.#byName.get(volume)?.claim;
  }

  withSecret(namespace: string, name: string): readonly string[] {
    return [...(this.#bySecret.get(`${namespace}/${name}`) ?? [])];
  }
}

/** Objects with a `nodeName` field. */
class NodeNameFollower implements CacheFollower {
  readonly #nodeOf: (object: KubeObject) => string | undefined;
  readonly #placeByKey = new Map<string, string>();
  readonly #nodes = new Map<string, string>();

  constructor(nodeOf: (object: KubeObject) => string | undefined) {
    this.#nodeOf = nodeOf;
  }

  put(key: string, object: KubeObject): void {
    this.remove(key);
    const node = this.#nodeOf(object);
    if (!node) return;
    const place = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    this.#placeByKey.set(key, place);
    this.#nodes.set(place, node);
  }

  remove(key: string): void {
    const place = this.#placeByKey.get(key);
    if (place === undefined) return;
    this.#placeByKey.delete(key);
    this.#nodes.delete(place);
  }

  nodeOf(namespace: string, name: string): string | undefined {
    return this.#nodes.get(`${namespace}/${name}`);
  }
}

function nodeNameInSpec({ spec }: KubeObject): string | undefined {
  return (spec as { readonly nodeName?: string } | undefined)?.nodeName;
}
