import { core, type resource } from '#api';
import type { Lister } from '#client';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { Claim } from './device-request.ts';

/** The maximum number of consumers of a claim. */
const MAX_CONSUMERS = 256;

/** The claims of a pod, or upstream's message why one cannot be used yet. */
export function podClaims({ pod, namespace, key, uid }: PodInfo, claims: Lister<resource.ResourceClaim>): readonly Claim[] | string {
  const result: Claim[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const named = core.resourceClaimOf(pod, entry);
    if (named === 'not-made') return `pod "${key}": ResourceClaim not created yet`;
    if (named === 'not-needed') continue;
    const { name, isGenerated } = named;
    const claim = claims.get({ name, namespace });
    if (claim === undefined) return `resourceclaim.resource.k8s.io "${name}" not found`;
    if (claim.metadata.deletionTimestamp != null) return `resourceclaim "${name}" is being deleted`;
    if (isGenerated && !isOwnedBy(claim, uid)) {
      return `ResourceClaim ${namespace}/${name} was not created for Pod ${key} (Pod is not owner)`;
    }
    result.push(claim);
  }
  return result;
}

function isOwnedBy({ metadata }: Claim, uid: string): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === uid);
}

export function isReservedFor({ status }: Claim, uid: string): boolean {
  return (status?.reservedFor ?? []).some((consumer) => consumer.uid === uid);
}

/** Whether the pod can still be added to reservedFor. */
export function isUsableBy(claim: Claim, uid: string): boolean {
  return (claim.status?.reservedFor?.length ?? 0) < MAX_CONSUMERS || isReservedFor(claim, uid);
}
