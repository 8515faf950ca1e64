import { core, resource } from '#api';
import type { Clock } from '#base';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import type { PodInfo } from '../../framework/pod-info.ts';
import { bindClaim, FINALIZER } from './bind-claim.ts';
import type { Claim } from './device-request.ts';
import type { NodeClaim } from './extended-resources.ts';

const MAX_TRIES = 5;

export interface ExtendedBinding extends NodeClaim {
  readonly allocation: resource.AllocationResult;
  readonly pod: PodInfo;
}

/** Writes the allocation to the claim for a pod's extended resources, and the mapping of containers to requests to the pod's status. */
export async function bindExtendedClaim(binding: ExtendedBinding, deps: { readonly client: Client; readonly clock: Clock }): Promise<void> {
  const { claim, mappings, pod } = binding;
  await bindClaim(binding, deps);
  const extendedResourceClaimStatus = { requestMappings: mappings, resourceClaimName: claim.metadata.name };
  await deps.client
    .of(core.Pod)
    .patch(pod.pod.metadata, { status: { extendedResourceClaimStatus } }, { type: 'strategic', subresource: 'status' });
}

/** Deletes an unused claim, after removing the finalizer that protects allocated devices. */
export async function deleteClaim({ metadata }: Claim, { client }: { readonly client: Client }): Promise<void> {
  const claims = client.of(resource.ResourceClaim);
  for (let tries = 1; ; tries++) {
    try {
      const claim = await claims.get(metadata);
      if (claim.metadata.uid !== metadata.uid) return;
      const finalizers = (claim.metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
      await claims.update({ ...claim, metadata: { ...claim.metadata, finalizers } });
      return await claims.delete(metadata).then(() => undefined);
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) return;
      if (!isStatusReason(error, 'Conflict') || tries === MAX_TRIES) throw error;
    }
  }
}
