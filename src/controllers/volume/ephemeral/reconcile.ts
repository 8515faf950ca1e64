import { core } from '#api';
import type { Draft } from '#client';
import { controllerRef } from '../../runtime/controller-ref.ts';

/** The claim of a generic ephemeral volume. */
export function claimFor(pod: core.Pod, volume: core.Volume): Draft<core.PersistentVolumeClaim> {
  const { metadata, spec } = volume.ephemeral?.volumeClaimTemplate ?? {};
  return {
    metadata: {
      name: core.ephemeralClaimName(pod, volume),
      namespace: pod.metadata.namespace ?? '',
      ...(metadata?.annotations && { annotations: metadata.annotations }),
      ...(metadata?.labels && { labels: metadata.labels }),
      ownerReferences: [controllerRef(pod, core.Pod)],
    },
    ...(spec && { spec }),
  };
}

export function ephemeralVolumesOf({ spec }: core.Pod): readonly core.Volume[] {
  return (spec?.volumes ?? []).filter(({ ephemeral }) => ephemeral !== undefined);
}
