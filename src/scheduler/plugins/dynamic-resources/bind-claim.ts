import { resource } from '#api';
import type { Clock } from '#base';
import type { Client } from '#client';
import { formatTime, isStatusReason } from '#machinery';
import type { PodInfo } from '../../framework/pod-info.ts';
import { type Claim, keyOf } from './device-request.ts';

/** Keeps a claim while devices are allocated to it. */
export const FINALIZER = 'resource.kubernetes.io/delete-protection';
const MAX_TRIES = 5;

export interface ClaimBinding {
  readonly claim: Claim;
  /** The decided allocation; undefined when it already has one. */
  readonly allocation: resource.AllocationResult | undefined;
  readonly pod: PodInfo;
}

/** Writes the allocation and the pod's reservation to a claim. Retried on conflicts. */
export async function bindClaim(binding: ClaimBinding, { client, clock }: { client: Client; clock: Clock }): Promise<Claim> {
  const claims = client.of(resource.ResourceClaim);
  let { claim } = binding;
  for (let tries = 1; ; tries++) {
    try {
      const finalized = needsFinalizer(binding, claim) ? await claims.update(withFinalizer(claim)) : claim;
      return await claims.updateStatus(bound(finalized, binding, formatTime(clock.now())));
    } catch (error) {
      if (!isStatusReason(error, 'Conflict') || tries === MAX_TRIES) throw error;
      claim = await claims.get(claim.metadata);
    }
  }
}

function needsFinalizer({ allocation }: ClaimBinding, { metadata }: Claim): boolean {
  return allocation !== undefined && !(metadata.finalizers ?? []).includes(FINALIZER);
}

function withFinalizer(claim: Claim): Claim {
  return { ...claim, metadata: { ...claim.metadata, finalizers: [...(claim.metadata.finalizers ?? []), FINALIZER] } };
}

function bound(claim: Claim, { allocation, pod }: ClaimBinding, now: string): Claim {
  const { metadata, status } = claim;
  if (metadata.deletionTimestamp != null) throw new Error(`claim ${keyOf(claim)} got deleted in the meantime`);
  if (allocation !== undefined && status?.allocation !== undefined) {
    throw new Error(`claim ${keyOf(claim)} got allocated elsewhere in the meantime`);
  }
  const current = allocation ?? status?.allocation;
  if (current === undefined) throw new Error(`claim ${keyOf(claim)} got deallocated elsewhere in the meantime`);
  const reservedFor = [...(status?.reservedFor ?? []), { resource: 'pods', name: pod.name, uid: pod.uid }];
  return { ...claim, status: { ...status, allocation: { allocationTimestamp: now, ...current }, reservedFor } as Claim['status'] } as Claim;
}
