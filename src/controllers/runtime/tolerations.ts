import type { core } from '#api';

export function tolerates({ key = '', operator = 'Equal', value = '', effect = '' }: core.Toleration, taint: core.Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || ((operator === 'Equal' || operator === '') && value === (taint.value ?? ''));
}

/** For each taint the first toleration that tolerates it; undefined when one is not tolerated. */
export function matchingTolerations(taints: readonly core.Taint[], tolerations: readonly core.Toleration[]) {
  const found = taints.map((taint) => tolerations.find((toleration) => tolerates(toleration, taint)));
  return found.every((toleration) => toleration !== undefined) ? found : undefined;
}

export function sameTaint(a: core.Taint, b: core.Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
