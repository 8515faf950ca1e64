import type { Volume } from '../volume/volume.ts';
import type { Pod } from './pod.ts';
import type { PodResourceClaim } from './pod-spec.ts';

type NamedPod = { readonly metadata: { readonly name?: string } };

/** The name of the claim that is created for an ephemeral volume of a pod. */
export function ephemeralClaimName({ metadata }: NamedPod, volume: Pick<Volume, 'name'>): string {
  return `${metadata.name ?? ''}-${volume.name}`;
}

/** The name of the persistent volume claim behind a volume; undefined when there is none. */
export function volumeClaimName(pod: NamedPod, volume: Volume): string | undefined {
  return volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral ? ephemeralClaimName(pod, volume) : undefined);
}

/** The persistent volume claims behind a pod's volumes, those created for ephemeral volumes included. */
export function volumeClaimNames(pod: Pod): readonly string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => volumeClaimName(pod, volume) ?? []);
}

export interface NamedResourceClaim {
  readonly name: string;
  /** Created from a template, so that it must be owned by the pod. */
  readonly isGenerated: boolean;
}

/** The resource claim behind an entry of `spec.resourceClaims`, once it exists; or that none is needed. */
export function resourceClaimOf({ status }: Pod, entry: PodResourceClaim): NamedResourceClaim | 'not-made' | 'not-needed' {
  if (entry.resourceClaimName !== undefined) return { name: entry.resourceClaimName, isGenerated: false };
  const generated = status?.resourceClaimStatuses?.find(({ name }) => name === entry.name);
  if (generated === undefined) return 'not-made';
  return generated.resourceClaimName === undefined ? 'not-needed' : { name: generated.resourceClaimName, isGenerated: true };
}
