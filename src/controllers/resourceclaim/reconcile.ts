import { core, type resource } from '#api';
import type { Draft } from '#client';
import { apiVersionOf } from '#machinery';
import { controllerOf, isControlledBy } from '../runtime/controller-ref.ts';

type Claim = resource.ResourceClaim;
type Consumer = resource.ResourceClaimConsumerReference;

/** The pod entry that a claim was generated for. */
export const POD_CLAIM_ANNOTATION = 'resource.kubernetes.io/pod-claim-name';
/** Protects a claim while devices are allocated to it. */
export const CLAIM_FINALIZER = 'resource.kubernetes.io/delete-protection';

/** No container runs or will run. */
export function isPodDone(pod: core.Pod): boolean {
  return core.isPodTerminal(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec?.nodeName);
}

/** The names of a pod's claims, including the one that the scheduler created for extended resources. */
export function claimNamesOf(pod: core.Pod): readonly string[] {
  const named = (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const claim = core.resourceClaimOf(pod, entry);
    return typeof claim === 'string' ? [] : [claim.name];
  });
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  return extended ? [...named, extended] : named;
}

/** A claim must be created for the pod, or reserved because the pod was bound without the scheduler. */
export function needsWork(pod: core.Pod, find: (name: string) => Claim | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || isPodDone(pod)) return false;
  return (pod.spec?.resourceClaims ?? []).some((entry) => {
    const named = core.resourceClaimOf(pod, entry);
    if (typeof named === 'string') return named === 'not-made';
    const claim = find(named.name);
    if (claim === undefined) return named.isGenerated;
    return !(named.isGenerated && !isControlledBy(claim, pod)) && needsReservation(pod, claim);
  });
}

/** The scheduler reserves the claims of the pods that it binds. */
export function needsReservation(pod: core.Pod, { status }: Claim): boolean {
  if (!pod.spec?.nodeName || status?.allocation === undefined) return false;
  return !(status.reservedFor ?? []).some(({ uid }) => uid === pod.metadata.uid);
}

export function withReservedFor(claim: Claim, { metadata }: core.Pod): Claim {
  const consumer = { resource: 'pods', name: metadata.name, uid: metadata.uid ?? '' };
  return { ...claim, status: { ...claim.status, reservedFor: [...(claim.status?.reservedFor ?? []), consumer] } };
}

/** The claim for an entry of a pod. It is owned by the pod and does not block the pod's deletion. */
export function claimFromTemplate(pod: core.Pod, entry: string, { spec }: resource.ResourceClaimTemplate): Draft<Claim> {
  const { name, namespace = '', uid = '' } = pod.metadata;
  const { labels, annotations } = spec?.metadata ?? {};
  return {
    metadata: {
      generateName: generatedPrefix(name, entry),
      namespace,
      ...(labels && { labels }),
      annotations: { ...annotations, [POD_CLAIM_ANNOTATION]: entry },
      ownerReferences: [{ apiVersion: apiVersionOf(core.Pod), kind: core.Pod.kind, name, uid, controller: true }],
    },
    ...(spec?.spec && { spec: spec.spec }),
  };
}

const MAX_PREFIX = 57;

/** Both names, each truncated in proportion to its length when they are too long together. */
function generatedPrefix(pod: string, entry: string): string {
  const fullName = `${pod}-${entry}-`;
  if (fullName.length <= MAX_PREFIX) return fullName;
  const start = pod.slice(0, Math.floor((pod.length * MAX_PREFIX) / fullName.length));
  return `${start}-${entry.slice(0, Math.floor((entry.length * MAX_PREFIX) / fullName.length))}`;
}

export function isPodConsumer({ apiGroup = '', resource: name }: Consumer): boolean {
  return apiGroup === '' && name === 'pods';
}

/** The claim with only these consumers. Without consumers the devices are deallocated. */
export function withConsumers(claim: Claim, consumers: readonly Consumer[]): Claim {
  const { allocation, reservedFor: _, ...rest } = claim.status ?? {};
  const isFreed = consumers.length === 0 && hasClaimFinalizer(claim);
  return { ...claim, status: { ...rest, ...(allocation && !isFreed && { allocation }), reservedFor: [...consumers] } };
}

export function hasClaimFinalizer({ metadata }: Claim): boolean {
  return metadata.finalizers?.includes(CLAIM_FINALIZER) === true;
}

/** The pod that owns a claim. */
export function owningPod(claim: Claim): { readonly name: string; readonly uid: string } | undefined {
  const owner = controllerOf(claim);
  return owner?.apiVersion === 'v1' && owner.kind === 'Pod' ? { name: owner.name, uid: owner.uid } : undefined;
}
