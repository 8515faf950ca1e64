/**
 * Values that many objects have alike, such as the spec of all pods that one template makes. As nothing is ever changed in place, what was found out
 * about such a value once holds for every object that has it.
 */
const recurring = new WeakSet<object>();
const variants = new WeakMap<object, Variant>();

/** A value that is like a recurring one in all but a name. */
interface Variant {
  readonly of: object;
  readonly naming: NameSlot<never>;
  readonly name: string;
}

/** A name that each object has for itself, while everything around it recurs. Nothing that is found out about the value depends on it. */
export interface NameSlot<V> {
  /** The name in the value that recurs. */
  readonly placeholder: string;
  rename(value: V, name: string): V;
}

/** From now on, what is found out about this very value is remembered. */
export function markRecurring(value: object): void {
  recurring.add(value);
}

export function isRecurring(value: object): boolean {
  return recurring.has(value);
}

/** Whether this very value recurs, or one that differs from it in a name alone. */
export function recurs(value: object): boolean {
  return recurring.has(value) || variants.has(value);
}

/** The value with a name of its own instead of the placeholder. */
export function withOwnName<V extends object>(value: V, naming: NameSlot<V>, name: string): V {
  const renamed = naming.rename(value, name);
  if (recurring.has(value)) variants.set(renamed, { of: value, naming: naming as NameSlot<never>, name });
  return renamed;
}

/** `compute`, which looks at nothing but its argument, worked out once for a value that recurs. */
export function oncePerValue<V extends object, R extends NonNullable<unknown>>(compute: (value: V) => R): (value: V) => R {
  const results = new WeakMap<V, R>();
  return (value) => {
    const canonical = recurring.has(value) ? value : (variants.get(value)?.of as V | undefined);
    if (canonical === undefined) return compute(value);
    let result = results.get(canonical);
    if (result === undefined) {
      result = compute(canonical);
      results.set(canonical, result);
    }
    return result;
  };
}

/** The most partners with which the result for one value is remembered. */
const MAX_PARTNERS = 4;

interface PairResult<P, R> {
  readonly partner: P;
  readonly result: R;
}

/** Like `oncePerValue`, where the result depends on a second value as well, which is one of a few. */
export function oncePerPair<V extends object, P, R extends NonNullable<unknown>>(
  compute: (value: V, partner: P) => R,
): (value: V, partner: P) => R {
  const pairingsOf = oncePerValue((_: V): { list: readonly PairResult<P, R>[] } => ({ list: [] }));
  return (value, partner) => {
    if (!recurs(value)) return compute(value, partner);
    const pairings = pairingsOf(value);
    for (const pairing of pairings.list) if (pairing.partner === partner) return pairing.result;
    const result = compute((variants.get(value)?.of as V | undefined) ?? value, partner);
    pairings.list = [{ partner, result }, ...pairings.list.slice(0, MAX_PARTNERS - 1)];
    return result;
  };
}

/** A change that depends on nothing but the value, made once for one that recurs. What becomes of such a value recurs itself. */
export function changeOnce<V extends object>(change: (value: V) => V): (value: V) => V {
  const changeWith = changeOnceWith((value: V, _: undefined) => change(value));
  return (value) => changeWith(value, undefined);
}

/** The same for a change that depends on a second value as well, which is one of a few. */
export function changeOnceWith<V extends object, P>(change: (value: V, partner: P) => V): (value: V, partner: P) => V {
  const changed = oncePerPair((value: V, partner: P) => {
    const result = change(value, partner);
    if (recurring.has(value)) recurring.add(result);
    return result;
  });
  return (value, partner) => {
    const result = changed(value, partner);
    const variant = variants.get(value);
    if (variant === undefined) return result;
    return result === variant.of ? value : withOwnName(result, variant.naming as unknown as NameSlot<V>, variant.name);
  };
}

/** A text of a value, which is put together from that of the value that it is a variant of. */
export function textOnce(encode: (value: object) => string): (value: object) => string {
  const textOf = oncePerValue(encode);
  const piecesOf = oncePerPair((value: object, naming: NameSlot<never>) => textPieces(value, naming, encode));
  return (value) => {
    const variant = variants.get(value);
    if (variant === undefined) return recurring.has(value) ? textOf(value) : encode(value);
    const pieces = piecesOf(value, variant.naming);
    return pieces.length === 0 ? encode(value) : pieces.join(variant.name);
  };
}

/** What stands around the name in the text; nothing when the placeholder stands where it is no name. */
function textPieces(value: object, naming: NameSlot<never>, encode: (value: object) => string): readonly string[] {
  const pieces = encode(value).split(naming.placeholder);
  const probe = `${naming.placeholder}-probe`;
  return encode(naming.rename(value as never, probe)) === pieces.join(probe) ? pieces : [];
}

interface NamedBytes {
  readonly naming: NameSlot<never>;
  readonly bytes: Buffer;
  /** Where the placeholder stands; undefined when another name of its length changes more than that. */
  readonly offsets: readonly number[] | undefined;
}

/** A binary encoding of a value by a second one, which is one of a few. That of a variant is a copy with another name where both are equally long. */
export function bytesOnce<V extends object, P>(encode: (value: V, partner: P) => Buffer): (value: V, partner: P) => Buffer {
  const bytesOf = oncePerPair(encode);
  const namedOf = oncePerPair((_: V, __: P): { named?: NamedBytes } => ({}));
  return (value, partner) => {
    const variant = variants.get(value);
    if (variant === undefined) return bytesOf(value, partner);
    const { of, naming, name } = variant;
    const slot = namedOf(value, partner);
    slot.named ??= namedBytes(of as V, naming, (renamed) => encode(renamed, partner));
    const { bytes, offsets } = slot.named;
    if (offsets === undefined || slot.named.naming !== naming || !isSameLength(name, naming.placeholder)) return encode(value, partner);
    const copy = Buffer.from(bytes);
    for (const offset of offsets) copy.write(name, offset, 'latin1');
    return copy;
  };
}

function isSameLength(name: string, placeholder: string): boolean {
  return name.length === placeholder.length && Buffer.byteLength(name) === name.length;
}

function namedBytes<V extends object>(value: V, naming: NameSlot<never>, encode: (value: V) => Buffer): NamedBytes {
  const bytes = encode(value);
  const { placeholder } = naming;
  const offsets: number[] = [];
  for (let at = bytes.indexOf(placeholder); at >= 0; at = bytes.indexOf(placeholder, at + placeholder.length)) offsets.push(at);
  const probe = '#'.repeat(placeholder.length);
  const renamed = Buffer.from(bytes);
  for (const offset of offsets) renamed.write(probe, offset, 'latin1');
  return { naming, bytes, offsets: encode(naming.rename(value as never, probe) as V).equals(renamed) ? offsets : undefined };
}
