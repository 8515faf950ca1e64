import type { core } from '#api';

/** Whether one of the tolerations covers the taint. */
export function tolerates(tolerations: readonly core.Toleration[], taint: core.Taint): boolean {
  return tolerations.some((toleration) => covers(toleration, taint));
}

function covers({ key = '', operator = '', value = '', effect = '' }: core.Toleration, taint: core.Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator) {
    case '':
    case 'Equal':
      return value === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Gt':
    case 'Lt':
      return comparesTo({ operator, value }, taint.value ?? '');
    default:
      return false;
  }
}

const INTEGER = /^-?\d+$/;

function comparesTo({ operator, value }: { operator: 'Gt' | 'Lt'; value: string }, tainted: string): boolean {
  if (!INTEGER.test(value) || !INTEGER.test(tainted)) return false;
  return operator === 'Gt' ? BigInt(tainted) > BigInt(value) : BigInt(tainted) < BigInt(value);
}

export function findUntolerated(
  taints: readonly core.Taint[],
  tolerations: readonly core.Toleration[],
  matters: (taint: core.Taint) => boolean,
): core.Taint | undefined {
  return taints.find((taint) => matters(taint) && !tolerates(tolerations, taint));
}

/** Takes pods only when nothing else is left. */
export function avoidsPods({ effect }: core.Taint): boolean {
  return effect === 'PreferNoSchedule';
}

export function keepsPodsAway({ effect }: core.Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}
