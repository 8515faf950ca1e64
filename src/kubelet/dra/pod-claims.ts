import type { core, resource } from '#api';

/** A claim of a pod, by its name in the pod's spec. */
export interface PodClaim {
  readonly podClaimName: string;
  readonly claimName: string;
}

/** The claims of a pod. Throws while a claim from a template does not exist yet. Unneeded claims are left out. */
export function podClaims({ metadata, spec, status }: core.Pod): readonly PodClaim[] {
  const generatedClaims = new Map(
    (status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, { resourceClaimName }]),
  );
  return (spec?.resourceClaims ?? []).flatMap(({ name, resourceClaimName }) => {
    if (resourceClaimName) return [{ podClaimName: name, claimName: resourceClaimName }];
    const claim = generatedClaims.get(name);
    if (claim === undefined)
      throw new Error(`pod "${metadata.namespace}/${metadata.name}": ResourceClaim not created yet for pod claim ${name}`);
    return claim.resourceClaimName ? [{ podClaimName: name, claimName: claim.resourceClaimName }] : [];
  });
}

export function isReservedFor({ status }: resource.ResourceClaim, { metadata }: core.Pod): boolean {
  return (status?.reservedFor ?? []).some(
    ({ resource: kind, apiGroup = '', uid }) => kind === 'pods' && apiGroup === '' && uid === metadata.uid,
  );
}

/** The drivers of the claim's allocated devices. */
export function driversOf({ metadata, status }: resource.ResourceClaim): readonly string[] {
  const { allocation } = status ?? {};
  if (allocation === undefined) throw new Error(`ResourceClaim ${metadata.name}: not allocated`);
  return [...new Set((allocation.devices?.results ?? []).map(({ driver }) => driver))];
}
