import { core } from '#api';

export function findUntolerated(
  taints: readonly core.Taint[],
  tolerations: readonly core.Toleration[],
  matters: (taint: core.Taint) => boolean,
): core.Taint | undefined {
  return taints.find((taint) => matters(taint) && !core.isTaintTolerated(tolerations, taint));
}

/** PreferNoSchedule. */
export function avoidsPods({ effect }: core.Taint): boolean {
  return effect === 'PreferNoSchedule';
}

export function keepsPodsAway({ effect }: core.Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}
