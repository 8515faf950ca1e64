import type { core } from '#api';
import { isControlledBy } from '../runtime/controller-ref.ts';
import { ephemeralClaimName } from '../runtime/pod-claims.ts';

type Claim = core.PersistentVolumeClaim;

export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';

/**
 * The pod may have the claim mounted. One that is on no node has not: a kubelet starts no pod with a claim that is being deleted. One that
 * has ended still counts until it is gone, but for its ephemeral volumes, which may have to go before it can.
 */
export function usesClaim(pod: core.Pod, claim: Claim): boolean {
  if (!pod.spec?.nodeName || pod.metadata.namespace !== claim.metadata.namespace) return false;
  const { name } = claim.metadata;
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim.claimName === name;
    if (!volume.ephemeral || isShutDown(pod)) return false;
    return ephemeralClaimName(pod, volume) === name && isControlledBy(claim, pod);
  });
}

/** Its kubelet is done with it, or it was deleted by force; only finalizers can still keep it. */
function isShutDown({ metadata }: core.Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}
