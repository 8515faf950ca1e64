import { core } from '#api';
import { type Client, type InformerDeps, SharedInformer } from '#client';
import { isStatusReason } from '#machinery';

export type ReferencedKind = 'ConfigMap' | 'Secret';
type ReferencedObject = core.ConfigMap | core.Secret;

export interface ObjectReference {
  readonly kind: ReferencedKind;
  readonly namespace: string;
  readonly name: string;
}

export interface ReferencedObjectsDeps extends InformerDeps {
  readonly client: Client;
}

interface TrackedObject {
  readonly informer: SharedInformer<ReferencedObject>;
  readonly pods: Set<string>;
  /** The last version delivered to pods. */
  seenVersion: string | undefined;
}

/**
 * The ConfigMaps and Secrets that this node's pods reference. A node may only read these, one by one; each is watched by name while a pod
 * uses it, unless it is immutable.
 */
export class ReferencedObjects implements AsyncDisposable {
  readonly #tracked = new Map<string, TrackedObject>();

  constructor(
    private readonly deps: ReferencedObjectsDeps,
    /** Called when an object of the pods was changed, created or deleted. */
    private readonly onChange: (podUids: readonly string[]) => void,
  ) {}

  /** Rejects with upstream's text when it does not exist, for events. */
  async get<K extends ReferencedKind>(
    reference: ObjectReference & { kind: K },
  ): Promise<K extends 'Secret' ? core.Secret : core.ConfigMap> {
    const { kind, namespace, name } = reference;
    const tracked = this.#tracked.get(textOf(reference));
    const cached = tracked?.informer.lister.get({ namespace, name });
    if (cached !== undefined) return cached as never;
    try {
      const object = await this.#client(kind).get({ namespace, name });
      if (tracked !== undefined) tracked.seenVersion = object.metadata.resourceVersion;
      return object as never;
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) throw new MissingObject(kind, name);
      throw error;
    }
  }

  /** Watches the pod's references from now on, and no others for it. */
  follow(podUid: string, references: readonly ObjectReference[]): void {
    const keys = new Set(references.map(textOf));
    for (const [key, { pods }] of this.#tracked) if (!keys.has(key) && pods.delete(podUid)) this.#dropIfUnused(key);
    for (const reference of references) this.#track(reference).pods.add(podUid);
  }

  release(podUid: string): void {
    this.follow(podUid, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#tracked.values()];
    this.#tracked.clear();
    await Promise.all(all.map(({ informer }) => informer.stop()));
  }

  #client(kind: ReferencedKind) {
    return kind === 'Secret' ? this.deps.client.of(core.Secret) : this.deps.client.of(core.ConfigMap);
  }

  #track(reference: ObjectReference): TrackedObject {
    const key = textOf(reference);
    const existing = this.#tracked.get(key);
    if (existing !== undefined) return existing;
    const { namespace, name } = reference;
    const informer = new SharedInformer<ReferencedObject>(this.#client(reference.kind) as never, this.deps, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    const tracked: TrackedObject = { informer, pods: new Set(), seenVersion: undefined };
    const changed = (object: ReferencedObject) => this.#changed(tracked, object);
    informer.addHandler({ add: changed, update: (_, object) => changed(object), delete: () => this.onChange([...tracked.pods]) });
    informer.begin();
    this.#tracked.set(key, tracked);
    return tracked;
  }

  #changed(tracked: TrackedObject, object: ReferencedObject): void {
    const { resourceVersion } = object.metadata;
    // The informer keeps the object: an immutable object can only be recreated, and then its pods must be too.
    if (object.immutable === true) tracked.informer.abort(new DOMException('the object is immutable', 'AbortError'));
    if (resourceVersion === tracked.seenVersion) return;
    tracked.seenVersion = resourceVersion;
    this.onChange([...tracked.pods]);
  }

  #dropIfUnused(key: string): void {
    const tracked = this.#tracked.get(key);
    if (tracked === undefined || tracked.pods.size > 0) return;
    this.#tracked.delete(key);
    tracked.informer.abort(new DOMException('no pod uses the object', 'AbortError'));
  }
}

/** The object does not exist: an error, or an empty volume if it is optional. */
export class MissingObject extends Error {
  override readonly name = 'MissingObject';

  constructor(kind: ReferencedKind, name: string) {
    super(`${kind.toLowerCase()} "${name}" not found`);
  }
}

function textOf({ kind, namespace, name }: ObjectReference): string {
  return `${kind}/${namespace}/${name}`;
}

/** All references of a pod's volumes. */
export function volumeReferences({ metadata, spec }: core.Pod): readonly ObjectReference[] {
  const namespace = metadata.namespace ?? '';
  return (spec?.volumes ?? []).flatMap((volume) => {
    const projections = volume.projected?.sources ?? [];
    const maps = [volume.configMap?.name, ...projections.map(({ configMap }) => configMap?.name)];
    const secrets = [volume.secret?.secretName, ...projections.map(({ secret }) => secret?.name)];
    return [...named('ConfigMap', maps), ...named('Secret', secrets)].map((reference) => ({ ...reference, namespace }));
  });
}

function named(kind: ReferencedKind, names: readonly (string | undefined)[]) {
  return names.filter((name) => name !== undefined && name !== '').map((name) => ({ kind, name: name as string }));
}
