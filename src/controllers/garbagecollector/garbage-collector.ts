import type { meta } from '#api';
import type { EventRecorder, KubeObject } from '#client';
import { goQuote } from '#machinery';
import type { ControllerContext, RunningController } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import {
  DependencyGraph,
  FOREGROUND_FINALIZER,
  type GraphNode,
  identityKey,
  identityText,
  type ObjectIdentity,
  ORPHAN_FINALIZER,
} from './dependency-graph.ts';
import { GarbageOperations, NamespacedOwnerError, UnknownKindError } from './garbage-operations.ts';
import { type ClassifiedReferences, type CollectAction, reconcileOwned, reconcileWaiting } from './reconcile.ts';
import type { ResourceMapper } from './resource-mapper.ts';

/** The owner exists, but no informer has shown it yet. */
class UnobservedError extends Error {}

/** Processes candidates and deletes garbage. */
export class GarbageCollector implements RunningController {
  readonly graph: DependencyGraph;
  readonly #toCollect: KeyedController;
  readonly #toOrphan: KeyedController;
  readonly #operations: GarbageOperations;
  readonly #events: EventRecorder;

  constructor(context: ControllerContext, mapper: ResourceMapper) {
    const { client, clock, random, options } = context;
    const concurrency = options.concurrentGcSyncs;
    this.#events = context.recorder('garbage-collector-controller');
    this.#operations = new GarbageOperations({ client, clock, random, mapper });
    this.#toCollect = new KeyedController(context, {
      name: 'garbage_collector_attempt_to_delete',
      concurrency,
      sync: (uid) => this.#collect(uid),
      isExpected: (error) => error instanceof UnknownKindError || error instanceof UnobservedError,
    });
    this.#toOrphan = new KeyedController(context, {
      name: 'garbage_collector_attempt_to_orphan',
      concurrency,
      sync: (uid) => this.#orphan(uid),
    });
    this.graph = new DependencyGraph({
      collect: (uid, later) => (later ? this.#toCollect.queue.addRateLimited(uid) : this.#toCollect.queue.add(uid)),
      orphan: (uid) => this.#toOrphan.queue.add(uid),
      invalidNamespace: (node, reference) => this.#reportNamespace(node, reference),
    });
  }

  async run(): Promise<void> {
    await Promise.all([this.#toCollect.run(), this.#toOrphan.run()]);
  }

  async #collect(uid: string): Promise<void> {
    const node = this.graph.get(uid);
    if (node === undefined) return;
    try {
      await this.#examine(node);
    } catch (error) {
      // A retry would not make the reference valid.
      if (error instanceof NamespacedOwnerError) return;
      throw error;
    }
    // Retried until an informer shows it; its deletion would go unnoticed.
    if (this.graph.get(uid)?.isVirtual) throw new UnobservedError(`no informer has shown ${identityText(node.identity)} yet`);
  }

  async #examine(node: GraphNode): Promise<void> {
    // Already being deleted; its dependents are processed when it is gone.
    if (node.isBeingDeleted && !node.isDeletingDependents) return;
    const { identity } = node;
    const live = await this.#operations.get(identity);
    if (live?.metadata.uid !== identity.uid) this.graph.notFound(identity);
    else await this.#act(node, live!, await this.#decide(node, live!));
  }

  async #decide(node: GraphNode, { metadata }: KubeObject): Promise<CollectAction> {
    if (node.isDeletingDependents) return reconcileWaiting(node);
    const { ownerReferences = [], finalizers = [] } = metadata;
    if (ownerReferences.length === 0) return { type: 'none' };
    return reconcileOwned(node, await this.#classify(node, ownerReferences), finalizers);
  }

  async #act(node: GraphNode, live: KubeObject, action: CollectAction): Promise<void> {
    switch (action.type) {
      case 'none':
        return;
      case 'collect':
        for (const uid of action.uids) this.#toCollect.queue.add(uid);
        return;
      case 'finalize':
        return this.#operations.removeFinalizer(node.identity, FOREGROUND_FINALIZER);
      case 'forget owners':
        return this.#operations.forgetOwners(node.identity, action.uids);
      case 'delete': {
        if (action.unblock) await this.#operations.unblockOwners(node);
        const read = action.unblock ? ((await this.#operations.get(node.identity)) ?? live) : live;
        const existed = await this.#operations.delete(node.identity, read, action.policy);
        if (!existed) this.graph.notFound(node.identity);
      }
    }
  }

  async #classify(node: GraphNode, references: readonly meta.OwnerReference[]): Promise<ClassifiedReferences> {
    const solid: meta.OwnerReference[] = [];
    const dangling: meta.OwnerReference[] = [];
    const waiting: meta.OwnerReference[] = [];
    for (const reference of references) {
      const owner = await this.#ownerOf(node, reference);
      if (owner === undefined) dangling.push(reference);
      else if (owner.metadata.deletionTimestamp && owner.metadata.finalizers?.includes(FOREGROUND_FINALIZER)) waiting.push(reference);
      else solid.push(reference);
    }
    return { solid, dangling, waiting };
  }

  /** The live owner; undefined when it does not exist. */
  async #ownerOf({ identity: { namespace } }: GraphNode, reference: meta.OwnerReference): Promise<KubeObject | undefined> {
    const { absent } = this.graph;
    const { apiVersion, kind, name, uid } = reference;
    const inCluster = { apiVersion, kind, name, uid, namespace: '' };
    const inNamespace = { ...inCluster, namespace };
    if (absent.get(identityKey(inCluster)) || absent.get(identityKey(inNamespace))) return undefined;
    const identity: ObjectIdentity = this.#operations.resourceOf(reference).namespaced ? inNamespace : inCluster;
    const owner = await this.#operations.get(identity);
    if (owner?.metadata.uid === uid) return owner;
    absent.set(identityKey(identity), true);
    return undefined;
  }

  async #orphan(uid: string): Promise<void> {
    const node = this.graph.get(uid);
    if (node) await this.#operations.orphan(node, ORPHAN_FINALIZER);
  }

  #reportNamespace({ identity }: GraphNode, { apiVersion, kind, name, uid }: meta.OwnerReference): void {
    const owner = identityText({ apiVersion, kind, name, uid, namespace: identity.namespace });
    const { namespace, ...rest } = identity;
    const message = `ownerRef ${owner} does not exist in namespace ${goQuote(namespace)}`;
    this.#events.warning({ ...rest, ...(namespace && { namespace }) }, 'OwnerRefInvalidNamespace', message);
  }
}
