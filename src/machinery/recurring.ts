/**
 * Values that many objects have alike, such as the spec of all pods that one template makes. As nothing is ever changed in place, what was found out
 * about such a value once holds for every object that has it.
 */
const recurring = new WeakSet<object>();

/** From now on, what is found out about this very value is remembered. */
export function markRecurring(value: object): void {
  recurring.add(value);
}

export function isRecurring(value: object): boolean {
  return recurring.has(value);
}

/** `compute`, which looks at nothing but its argument, worked out once for a value that recurs. What it makes of such a value recurs itself. */
export function oncePerValue<V extends object, R extends NonNullable<unknown>>(compute: (value: V) => R): (value: V) => R {
  const results = new WeakMap<V, R>();
  return (value) => {
    if (!recurring.has(value)) return compute(value);
    let result = results.get(value);
    if (result === undefined) {
      result = madeOfRecurring(compute(value));
      results.set(value, result);
    }
    return result;
  };
}

/** The most partners for which the result with one value is remembered. */
const MAX_PARTNERS = 4;

interface Pairing<P, R> {
  readonly partner: P;
  readonly result: R;
}

/** Like `oncePerValue`, where the result depends on a second value as well, which is one of a few. */
export function oncePerPair<V extends object, P, R extends NonNullable<unknown>>(
  compute: (value: V, partner: P) => R,
): (value: V, partner: P) => R {
  const known = new WeakMap<V, readonly Pairing<P, R>[]>();
  return (value, partner) => {
    if (!recurring.has(value)) return compute(value, partner);
    const pairings = known.get(value) ?? [];
    for (const pairing of pairings) if (pairing.partner === partner) return pairing.result;
    const result = madeOfRecurring(compute(value, partner));
    known.set(value, [{ partner, result }, ...pairings.slice(0, MAX_PARTNERS - 1)]);
    return result;
  };
}

function madeOfRecurring<R>(result: R): R {
  if (typeof result === 'object' && result !== null) recurring.add(result);
  return result;
}
