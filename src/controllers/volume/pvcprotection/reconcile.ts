import { core } from '#api';
import { isControlledBy } from '../../runtime/controller-ref.ts';

type Claim = core.PersistentVolumeClaim;

export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';

/**
 * Whether the pod may have the claim mounted. An unscheduled pod does not: a kubelet starts no pod with a terminating claim. A finished
 * pod counts until it is deleted, except for its ephemeral volumes, which may have to be deleted first.
 */
export function usesClaim(pod: core.Pod, claim: Claim): boolean {
  if (!pod.spec?.nodeName || pod.metadata.namespace !== claim.metadata.namespace) return false;
  const { name } = claim.metadata;
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim.claimName === name;
    if (!volume.ephemeral || isShutDown(pod)) return false;
    return core.ephemeralClaimName(pod, volume) === name && isControlledBy(claim, pod);
  });
}

/** Terminated by its kubelet, or force-deleted; only finalizers keep it. */
function isShutDown({ metadata }: core.Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}
