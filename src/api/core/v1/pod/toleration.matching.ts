interface TaintLike {
  readonly key?: string;
  readonly value?: string;
  readonly effect?: string;
}

interface TolerationLike extends TaintLike {
  readonly operator?: string;
}

/** Whether the toleration matches the taint, of a node or a device. */
export function toleratesTaint({ key = '', operator = '', value = '', effect = '' }: TolerationLike, taint: TaintLike): boolean {
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

/** Whether one of the tolerations matches the taint. */
export function isTaintTolerated(tolerations: readonly TolerationLike[], taint: TaintLike): boolean {
  return tolerations.some((toleration) => toleratesTaint(toleration, taint));
}

const INTEGER = /^-?\d{1,19}$/;

function comparesTo({ operator, value }: { operator: 'Gt' | 'Lt'; value: string }, taintValue: string): boolean {
  if (!INTEGER.test(value) || !INTEGER.test(taintValue)) return false;
  return operator === 'Gt' ? BigInt(taintValue) > BigInt(value) : BigInt(taintValue) < BigInt(value);
}
