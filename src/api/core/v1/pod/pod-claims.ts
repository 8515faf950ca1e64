import type { Volume } from '../volume/volume.ts';
import type { Pod } from './pod.ts';
import type { PodResourceClaim } from './pod-spec.ts';

type NamedPod = { readonly metadata: { readonly name?: string } };

/** The name of the claim of an ephemeral volume. */
export function ephemeralClaimName({ metadata }: NamedPod, volume: Pick<Volume, 'name'>): string {
  return `${metadata.name ?? ''}-${volume.name}`;
}

/** The name of a volume's PersistentVolumeClaim; undefined if it has none. */
export function volumeClaimName(pod: NamedPod, volume: Volume): string | undefined {
  return volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral ? ephemeralClaimName(pod, volume) : undefined);
}

/** The PersistentVolumeClaims of a pod's volumes, including those of ephemeral volumes. */
export function volumeClaimNames(pod: Pod): readonly string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => volumeClaimName(pod, volume) ?? []);
}

export interface NamedResourceClaim {
  readonly name: string;
  /** Created from a template, so it must be owned by the pod. */
  readonly isGenerated: boolean;
}

/** The ResourceClaim of an entry in `spec.resourceClaims`, if it exists; or that none is needed. */
export function resourceClaimOf({ status }: Pod, entry: PodResourceClaim): NamedResourceClaim | 'not-made' | 'not-needed' {
  if (entry.resourceClaimName !== undefined) return { name: entry.resourceClaimName, isGenerated: false };
  const generated = status?.resourceClaimStatuses?.find(({ name }) => name === entry.name);
  if (generated === undefined) return 'not-made';
  return generated.resourceClaimName === undefined ? 'not-needed' : { name: generated.resourceClaimName, isGenerated: true };
}
