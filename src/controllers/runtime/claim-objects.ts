import type { meta } from '#api';
import type { Identified, ResourceClient } from '#client';
import { isStatusReason, type Selector } from '#machinery';
import { controllerOf } from './controller-ref.ts';

export interface ClaimOptions<T extends Identified> {
  readonly owner: Identified;
  readonly ownerRef: meta.OwnerReference;
  readonly selector: Selector;
  /** Further conditions, besides the labels, under which an object without a controller is adopted. */
  readonly mayAdopt?: (object: T) => boolean;
  /** Called once before the first adoption: throws if the owner is deleted or replaced on the server. */
  ensureCanAdopt(): Promise<void>;
  readonly client: ResourceClient<T>;
  /** Finalizers that adopted objects get with the reference. */
  readonly finalizers?: readonly string[];
}

/**
 * The candidates that belong to the owner: those that reference it and match, and matching orphans, which are adopted. Objects that
 * reference it but no longer match are released.
 */
export async function claimObjects<T extends Identified>(candidates: readonly T[], options: ClaimOptions<T>): Promise<T[]> {
  const claimed: T[] = [];
  const failures: unknown[] = [];
  const mayAdopt = once(options.ensureCanAdopt);
  for (const candidate of candidates) {
    try {
      // Only claims that need a write are asynchronous.
      const isClaimed = claim(candidate, options, mayAdopt);
      if (isClaimed === true || (isClaimed !== false && (await isClaimed))) claimed.push(candidate);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map((error) => (error as Error).message).join('; '));
  return claimed;
}

function claim<T extends Identified>(object: T, options: ClaimOptions<T>, mayAdopt: () => Promise<void>): boolean | Promise<boolean> {
  const { owner, selector } = options;
  const reference = controllerOf(object);
  if (reference !== undefined && reference.uid !== owner.metadata.uid) return false;
  const matches = selector.matches(object.metadata.labels);
  if (reference !== undefined) return matches || (owner.metadata.deletionTimestamp === undefined && release(object, options));
  const isEligible = owner.metadata.deletionTimestamp === undefined && matches && object.metadata.deletionTimestamp === undefined;
  return isEligible && options.mayAdopt?.(object) !== false && mayAdopt().then(() => adopt(object, options));
}

async function adopt<T extends Identified>(object: T, { client, ownerRef, finalizers }: ClaimOptions<T>): Promise<boolean> {
  const { uid } = object.metadata;
  const patch = { metadata: { ownerReferences: [ownerRef], uid, ...(finalizers && { finalizers }) } };
  try {
    await client.patch(object.metadata, patch, { type: 'strategic' });
    return true;
  } catch (error) {
    if (isStatusReason(error, 'NotFound')) return false;
    throw error;
  }
}

/** Always resolves to false: a released object is not claimed. */
async function release<T extends Identified>(object: T, { client, owner, finalizers }: ClaimOptions<T>): Promise<false> {
  const { uid } = object.metadata;
  const withoutOwner = { ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }], uid };
  const patch = { metadata: { ...withoutOwner, ...(finalizers && { '$deleteFromPrimitiveList/finalizers': finalizers }) } };
  try {
    await client.patch(object.metadata, patch, { type: 'strategic' });
  } catch (error) {
    // Deleted or replaced: no longer the owner's.
    if (!isStatusReason(error, 'NotFound') && !isStatusReason(error, 'Invalid')) throw error;
  }
  return false;
}

function once(check: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => {
    result ??= check();
    return result;
  };
}
