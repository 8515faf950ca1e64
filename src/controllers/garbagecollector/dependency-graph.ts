import type { meta } from '#api';
import { Lru } from '#base';
import { compareBytes, sameJson } from '#machinery';

/** The coordinates of an object: those of an owner reference, and the namespace. */
export interface ObjectIdentity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** An object in the graph, observed by an informer or only known from references. */
export interface GraphNode {
  identity: ObjectIdentity;
  owners: readonly meta.OwnerReference[];
  readonly dependents: Set<GraphNode>;
  isBeingDeleted: boolean;
  /** Deleted in the foreground: it stays until its dependents are gone. */
  isDeletingDependents: boolean;
  /** No informer has shown it yet: it may not exist, or not under these coordinates. */
  isVirtual: boolean;
}

/** Most objects own nothing: the set of dependents is created on demand. */
class ObjectNode implements GraphNode {
  isBeingDeleted: boolean;
  isDeletingDependents: boolean;
  isVirtual = false;
  #dependents: Set<GraphNode> | undefined;

  constructor(
    public identity: ObjectIdentity,
    public owners: readonly meta.OwnerReference[],
    { isBeingDeleted, isDeletingDependents }: Pick<GraphNode, 'isBeingDeleted' | 'isDeletingDependents'>,
  ) {
    this.isBeingDeleted = isBeingDeleted;
    this.isDeletingDependents = isDeletingDependents;
  }

  get dependents(): Set<GraphNode> {
    this.#dependents ??= new Set();
    return this.#dependents;
  }
}

export type ObservedMetadata = Pick<meta.ObjectMeta, 'ownerReferences' | 'deletionTimestamp' | 'finalizers'>;

/** What follows from a change of the graph. */
export interface GraphEffects {
  /** Checks whether the node with this uid is garbage, or is still waiting for its dependents. `later`: not at once, as it was just checked. */
  collect(uid: string, later?: boolean): void;
  /** The node with this uid is to be deleted once its dependents have forgotten it. */
  orphan(uid: string): void;
  /** A node refers to an owner that exists in another namespace only. */
  invalidNamespace(node: GraphNode, reference: meta.OwnerReference): void;
}

export const FOREGROUND_FINALIZER = 'foregroundDeletion';
export const ORPHAN_FINALIZER = 'orphan';
const ABSENT_OWNERS = 500;
const NONE: readonly never[] = [];

/**
 * The ownership graph, from informers and owner references. It enqueues what upstream's graph does, including references with wrong
 * coordinates, which must neither keep garbage alive nor delete owned objects.
 */
export class DependencyGraph {
  readonly #nodes = new Map<string, GraphNode>();
  /** Owners that are known not to exist. */
  readonly absent = new Lru<string, true>({ capacity: ABSENT_OWNERS });

  constructor(private readonly effects: GraphEffects) {}

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Called when an informer shows the object. `before` is its previous state. */
  observed(identity: ObjectIdentity, now: ObservedMetadata, before?: ObservedMetadata): void {
    const existing = this.#nodes.get(identity.uid);
    if (existing?.isVirtual) this.#confirm(existing, identity);
    const node = existing ?? this.#insert(identity, now);
    if (existing) this.#update(existing, now);
    this.#startDeletion(node, now, before);
  }

  /** Called when an informer shows the deletion. */
  deleted(identity: ObjectIdentity): void {
    const node = this.#nodes.get(identity.uid);
    if (node) this.#remove(node, identity);
  }

  /** The server returned NotFound: the node or its coordinates may be wrong. */
  notFound(identity: ObjectIdentity): void {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return;
    if (node.isVirtual) this.#virtualNotFound(node, identity);
    else if (sameIdentity(node.identity, identity)) this.#remove(node, identity);
    else this.#collectReferring(node, identity);
  }

  /** Tries the next coordinates that dependents give; removes the node when none are left. */
  #virtualNotFound(node: GraphNode, identity: ObjectIdentity): void {
    const others = [...node.dependents].filter((dependent) => refersOtherwise(dependent, identity));
    if (others.length === 0) {
      this.#remove(node, identity);
      return;
    }
    this.#collectReferring(node, identity);
    if (!sameIdentity(node.identity, identity)) return;
    const alternative = alternativeIdentity(others, identity);
    if (alternative === undefined) return;
    node.identity = alternative;
    this.effects.collect(identity.uid, true);
  }

  #collectReferring(node: GraphNode, identity: ObjectIdentity): void {
    const referring = [...node.dependents].filter((dependent) => refersTo(dependent, identity));
    if (referring.length > 0) this.absent.set(identityKey(identity), true);
    for (const dependent of referring) this.effects.collect(dependent.identity.uid);
  }

  #insert(identity: ObjectIdentity, now: ObservedMetadata): GraphNode {
    const { ownerReferences: owners = NONE, finalizers = [], deletionTimestamp } = now;
    const isBeingDeleted = deletionTimestamp !== undefined;
    const isDeletingDependents = isBeingDeleted && finalizers.includes(FOREGROUND_FINALIZER);
    const node = new ObjectNode(identity, owners, { isBeingDeleted, isDeletingDependents });
    this.#nodes.set(identity.uid, node);
    this.#addToOwners(node, owners);
    return node;
  }

  /** A virtual node is confirmed; dependents that gave other coordinates may be garbage. */
  #confirm(node: GraphNode, identity: ObjectIdentity): void {
    node.isVirtual = false;
    if (sameIdentity(node.identity, identity)) return;
    for (const dependent of node.dependents) {
      if (!refersOtherwise(dependent, identity)) continue;
      if (isInOtherNamespace(dependent, identity)) this.#reportNamespace(dependent, identity.uid);
      this.effects.collect(dependent.identity.uid);
    }
    node.identity = identity;
  }

  #update(node: GraphNode, { ownerReferences: owners = [], deletionTimestamp }: ObservedMetadata): void {
    if (owners !== node.owners && !sameJson(owners, node.owners)) this.#changeOwners(node, owners);
    if (deletionTimestamp !== undefined) node.isBeingDeleted = true;
  }

  #changeOwners(node: GraphNode, owners: readonly meta.OwnerReference[]): void {
    const before = node.owners;
    const find = (references: readonly meta.OwnerReference[], uid: string) => references.find((reference) => reference.uid === uid);
    for (const old of before) {
      const isStillBlocking = find(owners, old.uid)?.blockOwnerDeletion === true;
      if (old.blockOwnerDeletion === true && !isStillBlocking && this.#nodes.has(old.uid)) this.effects.collect(old.uid);
    }
    node.owners = owners;
    this.#addToOwners(
      node,
      owners.filter(({ uid }) => find(before, uid) === undefined),
    );
    for (const old of before) if (find(owners, old.uid) === undefined) this.#nodes.get(old.uid)?.dependents.delete(node);
  }

  #addToOwners(node: GraphNode, owners: readonly meta.OwnerReference[]): void {
    let isSuspect = false;
    for (const reference of owners) {
      const owner = this.#nodes.get(reference.uid);
      if (owner === undefined) this.#addVirtual(node, reference);
      else {
        owner.dependents.add(node);
        isSuspect ||= this.#isSuspect(node, owner, reference);
      }
    }
    if (isSuspect) this.effects.collect(node.identity.uid);
  }

  /** An unobserved owner: its existence is checked. */
  #addVirtual(node: GraphNode, { apiVersion, kind, name, uid }: meta.OwnerReference): void {
    const identity = { apiVersion, kind, name, uid, namespace: node.identity.namespace };
    const dependents = new Set([node]);
    this.#nodes.set(uid, { identity, owners: [], dependents, isBeingDeleted: false, isDeletingDependents: false, isVirtual: true });
    this.effects.collect(uid);
  }

  /** The reference does not match the observed owner. */
  #isSuspect(node: GraphNode, owner: GraphNode, reference: meta.OwnerReference): boolean {
    if (isInOtherNamespace(node, owner.identity)) {
      if (!owner.isVirtual) this.effects.invalidNamespace(node, reference);
      return true;
    }
    if (!sameCoordinates(reference, owner.identity)) return true;
    return owner.identity.namespace === '' && node.identity.namespace !== '' && owner.isVirtual;
  }

  #reportNamespace(node: GraphNode, ownerUid: string): void {
    const reference = node.owners.find(({ uid }) => uid === ownerUid);
    if (reference) this.effects.invalidNamespace(node, reference);
  }

  #startDeletion(node: GraphNode, now: ObservedMetadata, before: ObservedMetadata | undefined): void {
    if (startsWith(ORPHAN_FINALIZER, now, before)) {
      this.effects.orphan(node.identity.uid);
    } else if (startsWith(FOREGROUND_FINALIZER, now, before)) {
      node.isDeletingDependents = true;
      for (const dependent of node.dependents) this.effects.collect(dependent.identity.uid);
      this.effects.collect(node.identity.uid);
    }
  }

  #remove(node: GraphNode, identity: ObjectIdentity): void {
    this.#nodes.delete(node.identity.uid);
    for (const { uid } of node.owners) this.#nodes.get(uid)?.dependents.delete(node);
    if (node.dependents.size > 0) this.absent.set(identityKey(identity), true);
    for (const dependent of node.dependents) this.effects.collect(dependent.identity.uid);
    for (const { uid } of node.owners) if (this.#nodes.get(uid)?.isDeletingDependents) this.effects.collect(uid);
  }
}

function startsWith(finalizer: string, now: ObservedMetadata, before: ObservedMetadata | undefined): boolean {
  if (now.deletionTimestamp === undefined) return false;
  const holds = ({ deletionTimestamp, finalizers = [] }: ObservedMetadata) =>
    deletionTimestamp !== undefined && finalizers.includes(finalizer);
  return holds(now) && (before === undefined || !holds(before));
}

/** Dependents that block the foreground deletion of the node. */
export function blockingDependents({ dependents, identity }: GraphNode): readonly GraphNode[] {
  return [...dependents].filter(({ owners }) =>
    owners.some(({ uid, blockOwnerDeletion }) => uid === identity.uid && blockOwnerDeletion === true),
  );
}

export function identityKey({ apiVersion, kind, namespace, name, uid }: ObjectIdentity): string {
  return `${apiVersion}\n${kind}\n${namespace}\n${name}\n${uid}`;
}

export function identityText({ apiVersion, kind, namespace, name, uid }: ObjectIdentity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}

function sameIdentity(a: ObjectIdentity, b: ObjectIdentity): boolean {
  return identityKey(a) === identityKey(b);
}

function sameCoordinates(reference: meta.OwnerReference, identity: ObjectIdentity): boolean {
  const { uid, name, kind, apiVersion } = reference;
  return uid === identity.uid && name === identity.name && kind === identity.kind && apiVersion === identity.apiVersion;
}

function isInOtherNamespace(node: GraphNode, owner: ObjectIdentity): boolean {
  return owner.namespace !== '' && owner.namespace !== node.identity.namespace;
}

function referencesTo(node: GraphNode, owner: ObjectIdentity): readonly meta.OwnerReference[] {
  return node.owners.filter(({ uid }) => uid === owner.uid);
}

function refersTo(node: GraphNode, owner: ObjectIdentity): boolean {
  return !isInOtherNamespace(node, owner) && referencesTo(node, owner).some((reference) => sameCoordinates(reference, owner));
}

function refersOtherwise(node: GraphNode, owner: ObjectIdentity): boolean {
  return isInOtherNamespace(node, owner) || referencesTo(node, owner).some((reference) => !sameCoordinates(reference, owner));
}

/** Other coordinates that dependents give for the same uid: the next after the absent ones, so that each is tried. */
function alternativeIdentity(dependents: readonly GraphNode[], absent: ObjectIdentity): ObjectIdentity | undefined {
  const named = dependents.flatMap((dependent) =>
    referencesTo(dependent, absent).map(({ apiVersion, kind, name, uid }) => {
      const namespace = absent.namespace === '' && sameKind({ apiVersion, kind }, absent) ? '' : dependent.identity.namespace;
      return { apiVersion, kind, name, uid, namespace };
    }),
  );
  const sorted = named.filter((identity) => !sameIdentity(identity, absent)).sort((a, b) => compareBytes(sortKey(a), sortKey(b)));
  return sorted.find((identity) => compareBytes(sortKey(identity), sortKey(absent)) > 0) ?? sorted[0];
}

function sameKind(a: { apiVersion: string; kind: string }, b: { apiVersion: string; kind: string }): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind;
}

function sortKey({ kind, apiVersion, namespace, name, uid }: ObjectIdentity): string {
  return [kind, apiVersion, namespace, name, uid].join('\u0000');
}
