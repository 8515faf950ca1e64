import type { core } from '#api';
import { minOf } from '#base';
import { matchingTolerations } from '../runtime/tolerations.ts';

export function noExecuteTaints({ spec }: core.Node): readonly core.Taint[] {
  return (spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

/** How long a pod tolerates these taints; Infinity: for ever. */
export function toleratedMs(taints: readonly core.Taint[], tolerations: readonly core.Toleration[]): number {
  const matching = matchingTolerations(taints, tolerations);
  if (matching === undefined) return 0;
  const seconds = matching.flatMap(({ tolerationSeconds }) => (tolerationSeconds === undefined ? [] : [Math.max(0, tolerationSeconds)]));
  return minOf(seconds, Infinity) * 1000;
}
