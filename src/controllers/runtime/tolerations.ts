import { core } from '#api';

/** For each taint the first toleration that tolerates it; undefined when one is not tolerated. */
export function matchingTolerations(taints: readonly core.Taint[], tolerations: readonly core.Toleration[]) {
  const matches = taints.map((taint) => tolerations.find((toleration) => core.toleratesTaint(toleration, taint)));
  return matches.every((toleration) => toleration !== undefined) ? matches : undefined;
}

export function sameTaint(a: core.Taint, b: core.Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
