import type { meta } from '#api';
import { type Clock, type Random, retry } from '#base';
import type { Client, DiscoveredResource, KubeObject, ResourceClient } from '#client';
import { isStatusReason, sameJson } from '#machinery';
import { type GraphNode, identityText, type ObjectIdentity } from './dependency-graph.ts';
import type { PropagationPolicy } from './reconcile.ts';
import type { ResourceMapper } from './resource-mapper.ts';

/** The kind is not served, or not yet known to be. */
export class UnknownKindError extends Error {
  override readonly name = 'UnknownKindError';
}

/** A cluster-scoped object cannot have a namespaced owner. */
export class NamespacedOwnerError extends Error {
  override readonly name = 'NamespacedOwnerError';
}

export interface OperationDeps {
  readonly client: Client;
  readonly mapper: ResourceMapper;
  readonly clock: Clock;
  readonly random: Random;
}

/** The garbage collector's requests to the server. */
export class GarbageOperations {
  constructor(private readonly deps: OperationDeps) {}

  resourceOf({ apiVersion, kind }: Pick<ObjectIdentity, 'apiVersion' | 'kind'>): DiscoveredResource {
    const resource = this.deps.mapper.find(apiVersion, kind);
    if (resource === undefined) throw new UnknownKindError(`unable to get REST mapping for ${apiVersion}/${kind}.`);
    return resource;
  }

  /** Undefined when there is no such object. */
  async get(identity: ObjectIdentity): Promise<KubeObject | undefined> {
    const resource = this.resourceOf(identity);
    if (resource.namespaced && identity.namespace === '') {
      throw new NamespacedOwnerError('cluster-scoped objects cannot refer to namespaced owners');
    }
    try {
      return await this.#client(resource).get(keyFor(resource, identity));
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** Deletes the object if it is unchanged, or has the same owners. False if it is gone. */
  async delete(identity: ObjectIdentity, read: KubeObject, policy: PropagationPolicy): Promise<boolean> {
    try {
      await this.#delete(identity, policy, read.metadata.resourceVersion);
      return true;
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) return false;
      if (!isStatusReason(error, 'Conflict')) throw error;
      const live = await this.get(identity);
      if (live === undefined) return false;
      const isSame =
        live.metadata.uid === identity.uid && sameJson(live.metadata.ownerReferences ?? [], read.metadata.ownerReferences ?? []);
      if (!isSame || live.metadata.resourceVersion === read.metadata.resourceVersion) throw error;
      // Unrelated changes must not keep garbage alive.
      await this.#delete(identity, policy, undefined);
      return true;
    }
  }

  async #delete(identity: ObjectIdentity, propagationPolicy: PropagationPolicy, resourceVersion: string | undefined): Promise<void> {
    const resource = this.resourceOf(identity);
    const preconditions = { uid: identity.uid, ...(resourceVersion && { resourceVersion }) };
    await this.#client(resource).delete(keyFor(resource, identity), { propagationPolicy, preconditions });
  }

  /** Removes the references to these owners. */
  forgetOwners(identity: ObjectIdentity, uids: readonly string[]): Promise<void> {
    const ownerReferences = uids.map((uid) => ({ $patch: 'delete', uid }));
    const absentUids = new Set(uids);
    return this.#patchOwners(identity, ownerReferences, (references) => references.filter(({ uid }) => !absentUids.has(uid)));
  }

  /** Clears blockOwnerDeletion in the object's references. */
  unblockOwners({ identity, owners }: GraphNode): Promise<void> {
    const unblocked = (references: readonly meta.OwnerReference[]) =>
      references.map((reference) => (reference.blockOwnerDeletion ? { ...reference, blockOwnerDeletion: false } : reference));
    const changed = owners.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
    return this.#patchOwners(identity, unblocked(changed), unblocked);
  }

  /** Custom resources have no strategic merge patch: the whole list is replaced, with a resourceVersion. */
  async #patchOwners(
    identity: ObjectIdentity,
    ownerReferences: readonly object[],
    change: (references: readonly meta.OwnerReference[]) => readonly meta.OwnerReference[],
  ): Promise<void> {
    const resource = this.resourceOf(identity);
    const client = this.#client(resource);
    const key = keyFor(resource, identity);
    try {
      await client.patch(key, { metadata: { ownerReferences, uid: identity.uid } }, { type: 'strategic' });
    } catch (error) {
      if (!isStatusReason(error, 'UnsupportedMediaType')) throw error;
      const { metadata } = await client.get(key);
      const { resourceVersion, ownerReferences: current = [] } = metadata;
      await client.patch(key, { metadata: { resourceVersion, ownerReferences: change(current) } }, { type: 'merge' });
    }
  }

  async removeFinalizer(identity: ObjectIdentity, finalizer: string): Promise<void> {
    const { clock, random } = this.deps;
    const backoff = { initialMs: 10, factor: 5, jitter: 0.1 };
    const retryOn = (error: unknown) => isStatusReason(error, 'Conflict');
    await retry({ clock, random, backoff, attempts: 4, retryOn }, async () => {
      const live = await this.get(identity);
      const { finalizers = [], resourceVersion } = live?.metadata ?? {};
      if (!finalizers.includes(finalizer)) return;
      const patch = { metadata: { resourceVersion, finalizers: finalizers.filter((present) => present !== finalizer) } };
      const resource = this.resourceOf(identity);
      await this.#client(resource).patch(keyFor(resource, identity), patch, { type: 'merge' });
    });
  }

  /** Removes the owner from all dependents' references, then its orphan finalizer. */
  async orphan({ identity, dependents }: GraphNode, finalizer: string): Promise<void> {
    const forget = async (dependent: GraphNode) => {
      try {
        await this.forgetOwners(dependent.identity, [identity.uid]);
      } catch (error) {
        if (!isStatusReason(error, 'NotFound')) throw new Error(`orphaning ${identityText(dependent.identity)} failed`, { cause: error });
      }
    };
    await Promise.all([...dependents].map(forget));
    await this.removeFinalizer(identity, finalizer);
  }

  #client(resource: DiscoveredResource): ResourceClient {
    return this.deps.client.resource(resource);
  }
}

function keyFor({ namespaced }: DiscoveredResource, { namespace, name }: ObjectIdentity) {
  return { name, ...(namespaced && { namespace }) };
}
