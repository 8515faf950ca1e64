import type { meta } from '#api';
import { blockingDependents, FOREGROUND_FINALIZER, type GraphNode, ORPHAN_FINALIZER } from './dependency-graph.ts';

/** An object's references to owners, by what became of the owners. */
export interface ClassifiedReferences {
  readonly solid: readonly meta.OwnerReference[];
  /** The owner does not exist. */
  readonly dangling: readonly meta.OwnerReference[];
  /** The owner is deleted in the foreground, and waits for its dependents. */
  readonly waiting: readonly meta.OwnerReference[];
}

export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan';

export type CollectAction =
  | { readonly type: 'none' }
  /** Its dependents are gone: it may go, too. */
  | { readonly type: 'finalize' }
  /** It waits for these; they are looked at. */
  | { readonly type: 'collect'; readonly uids: readonly string[] }
  | { readonly type: 'forget owners'; readonly uids: readonly string[] }
  /** `unblock`: first, its references cease to block, as it and its owner would wait for each other. */
  | { readonly type: 'delete'; readonly policy: PropagationPolicy; readonly unblock: boolean };

/** What to do with an object that waits for its dependents to be deleted. */
export function reconcileWaiting(node: GraphNode): CollectAction {
  const blocking = blockingDependents(node);
  if (blocking.length === 0) return { type: 'finalize' };
  return { type: 'collect', uids: blocking.filter((dependent) => !dependent.isDeletingDependents).map(({ identity }) => identity.uid) };
}

/** What to do with an object that may be garbage, given what became of its owners. */
export function reconcileOwned(
  node: GraphNode,
  { solid, dangling, waiting }: ClassifiedReferences,
  finalizers: readonly string[],
): CollectAction {
  if (solid.length > 0) {
    // References to owners that wait go as well, or those would wait for ever.
    const uids = [...dangling, ...waiting].map(({ uid }) => uid);
    return uids.length === 0 ? { type: 'none' } : { type: 'forget owners', uids };
  }
  if (waiting.length > 0 && node.dependents.size > 0) {
    const unblock = [...node.dependents].some((dependent) => dependent.isDeletingDependents);
    return { type: 'delete', policy: 'Foreground', unblock };
  }
  return { type: 'delete', policy: policyFor(finalizers), unblock: false };
}

/** How an earlier deletion was to propagate, if there was one. */
function policyFor(finalizers: readonly string[]): PropagationPolicy {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}
