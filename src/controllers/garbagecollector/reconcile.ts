import type { meta } from '#api';
import { blockingDependents, FOREGROUND_FINALIZER, type GraphNode, ORPHAN_FINALIZER } from './dependency-graph.ts';

/** Owner references, classified by the state of the owner. */
export interface ClassifiedReferences {
  readonly solid: readonly meta.OwnerReference[];
  /** The owner does not exist. */
  readonly dangling: readonly meta.OwnerReference[];
  /** The owner is being deleted in the foreground and waits for its dependents. */
  readonly waiting: readonly meta.OwnerReference[];
}

export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan';

export type CollectAction =
  | { readonly type: 'none' }
  /** All dependents are gone: remove the foreground finalizer. */
  | { readonly type: 'finalize' }
  /** Dependents still exist: check them. */
  | { readonly type: 'collect'; readonly uids: readonly string[] }
  | { readonly type: 'forget owners'; readonly uids: readonly string[] }
  /** `unblock`: first clear blockOwnerDeletion, since the object and its owner would wait for each other. */
  | { readonly type: 'delete'; readonly policy: PropagationPolicy; readonly unblock: boolean };

/** The action for an object that waits for its dependents to be deleted. */
export function reconcileWaiting(node: GraphNode): CollectAction {
  const blocking = blockingDependents(node);
  if (blocking.length === 0) return { type: 'finalize' };
  return { type: 'collect', uids: blocking.filter((dependent) => !dependent.isDeletingDependents).map(({ identity }) => identity.uid) };
}

/** The action for an object that may be garbage, given the state of its owners. */
export function reconcileOwned(
  node: GraphNode,
  { solid, dangling, waiting }: ClassifiedReferences,
  finalizers: readonly string[],
): CollectAction {
  if (solid.length > 0) {
    // References to waiting owners are removed too: otherwise those would wait for ever.
    const uids = [...dangling, ...waiting].map(({ uid }) => uid);
    return uids.length === 0 ? { type: 'none' } : { type: 'forget owners', uids };
  }
  if (waiting.length > 0 && node.dependents.size > 0) {
    const unblock = [...node.dependents].some((dependent) => dependent.isDeletingDependents);
    return { type: 'delete', policy: 'Foreground', unblock };
  }
  return { type: 'delete', policy: policyFor(finalizers), unblock: false };
}

/** The propagation policy of an earlier deletion, from its finalizers. */
function policyFor(finalizers: readonly string[]): PropagationPolicy {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}
