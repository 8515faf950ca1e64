import { core, type resource } from '#api';
import type { Draft } from '#client';
import { apiVersionOf } from '#machinery';
import { controllerOf, isControlledBy } from '../runtime/controller-ref.ts';
import { isPodTerminal } from '../runtime/pod-state.ts';

type Claim = resource.ResourceClaim;
type Consumer = resource.ResourceClaimConsumerReference;

/** Tells which of a pod's entries a claim was made for. */
export const POD_CLAIM_ANNOTATION = 'resource.kubernetes.io/pod-claim-name';
/** Keeps a claim while devices are allocated to it. */
export const CLAIM_FINALIZER = 'resource.kubernetes.io/delete-protection';

/** None of its containers runs or ever will. */
export function isPodDone(pod: core.Pod): boolean {
  return isPodTerminal(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec?.nodeName);
}

export interface NamedClaim {
  readonly name: string;
  /** Made from a template, so that it must belong to the pod. */
  readonly isGenerated: boolean;
}

/** The claim that an entry of a pod's claims stands for, once there is one; or that there need not be any. */
export function claimOf({ status }: core.Pod, entry: core.PodResourceClaim): NamedClaim | 'not-made' | 'not-needed' {
  if (entry.resourceClaimName !== undefined) return { name: entry.resourceClaimName, isGenerated: false };
  const made = status?.resourceClaimStatuses?.find(({ name }) => name === entry.name);
  if (made === undefined) return 'not-made';
  return made.resourceClaimName === undefined ? 'not-needed' : { name: made.resourceClaimName, isGenerated: true };
}

/** The names of the claims that a pod has, the one that the scheduler made for its extended resources included. */
export function claimNamesOf(pod: core.Pod): readonly string[] {
  const named = (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const claim = claimOf(pod, entry);
    return typeof claim === 'string' ? [] : [claim.name];
  });
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  return extended ? [...named, extended] : named;
}

/** A claim has to be made for the pod, or to be reserved for it because whoever put it on its node did not. */
export function needsWork(pod: core.Pod, find: (name: string) => Claim | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || isPodDone(pod)) return false;
  return (pod.spec?.resourceClaims ?? []).some((entry) => {
    const named = claimOf(pod, entry);
    if (typeof named === 'string') return named === 'not-made';
    const claim = find(named.name);
    if (claim === undefined) return named.isGenerated;
    return !(named.isGenerated && !isControlledBy(claim, pod)) && needsReservation(pod, claim);
  });
}

/** Pods that came to their nodes by way of the scheduler have theirs already. */
export function needsReservation(pod: core.Pod, { status }: Claim): boolean {
  if (!pod.spec?.nodeName || status?.allocation === undefined) return false;
  return !(status.reservedFor ?? []).some(({ uid }) => uid === pod.metadata.uid);
}

export function reservedFor(claim: Claim, { metadata }: core.Pod): Claim {
  const consumer = { resource: 'pods', name: metadata.name, uid: metadata.uid ?? '' };
  return { ...claim, status: { ...claim.status, reservedFor: [...(claim.status?.reservedFor ?? []), consumer] } };
}

/** A claim for an entry of a pod. It belongs to the pod, whose deletion it does not hold up. */
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

/** Both names, each cut in proportion to its length when they are too long together, so that something of both is left. */
function generatedPrefix(pod: string, entry: string): string {
  const whole = `${pod}-${entry}-`;
  if (whole.length <= MAX_PREFIX) return whole;
  const start = pod.slice(0, Math.floor((pod.length * MAX_PREFIX) / whole.length));
  return `${start}-${entry.slice(0, Math.floor((entry.length * MAX_PREFIX) / whole.length))}`;
}

export function isPodConsumer({ apiGroup = '', resource: name }: Consumer): boolean {
  return apiGroup === '' && name === 'pods';
}

/** The claim with only these consumers. When the last one goes, the devices become free for others. */
export function withConsumers(claim: Claim, consumers: readonly Consumer[]): Claim {
  const { allocation, reservedFor: _, ...rest } = claim.status ?? {};
  const isFreed = consumers.length === 0 && isHeld(claim);
  return { ...claim, status: { ...rest, ...(allocation && !isFreed && { allocation }), reservedFor: [...consumers] } };
}

export function isHeld({ metadata }: Claim): boolean {
  return metadata.finalizers?.includes(CLAIM_FINALIZER) === true;
}

/** The pod that a claim was made for. */
export function owningPod(claim: Claim): { readonly name: string; readonly uid: string } | undefined {
  const owner = controllerOf(claim);
  return owner?.apiVersion === 'v1' && owner.kind === 'Pod' ? { name: owner.name, uid: owner.uid } : undefined;
}
