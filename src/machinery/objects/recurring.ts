/**
 * Memoizes results for values that many objects share, such as the spec of all pods of one template. Objects are immutable, so a result holds for
 * every object with the same value.
 */
const recurring = new WeakSet<object>();
const variants = new WeakMap<object, Variant>();

/** A recurring value with a name of its own. */
interface Variant {
  readonly of: object;
  readonly naming: NameSlot<never>;
  readonly name: string;
}

/** A name that differs per object while everything around it recurs. No memoized result depends on it. */
export interface NameSlot<V> {
  /** The name in the value that recurs. */
  readonly placeholder: string;
  rename(value: V, name: string): V;
}

/** Marks the value as recurring: results for it are memoized from now on. */
export function markRecurring(value: object): void {
  recurring.add(value);
}

export function isRecurring(value: object): boolean {
  return recurring.has(value);
}

/** Whether the value recurs, or is a variant that differs only in a name. */
export function recurs(value: object): boolean {
  return recurring.has(value) || variants.has(value);
}

/** The value with its own name instead of the placeholder. */
export function withOwnName<V extends object>(value: V, naming: NameSlot<V>, name: string): V {
  const renamed = naming.rename(value, name);
  if (recurring.has(value)) variants.set(renamed, { of: value, naming: naming as NameSlot<never>, name });
  return renamed;
}

/** Memoizes `compute`, a pure function of its argument, for recurring values. */
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

/** The maximum number of memoized second arguments per value. */
const MAX_PARTNERS = 4;

interface PairResult<P, R> {
  readonly partner: P;
  readonly result: R;
}

/** Like `oncePerValue`, for a function of a second argument with few different values. */
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

/** Memoizes a pure transformation of recurring values. Its results recur too. */
export function changeOnce<V extends object>(change: (value: V) => V): (value: V) => V {
  const changeWith = changeOnceWith((value: V, _: undefined) => change(value));
  return (value) => changeWith(value, undefined);
}

/** The same for a transformation with a second argument of few different values. */
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

/** Memoizes a text of a value; a variant's text is derived from the recurring value's. */
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

/** The text around the name; undefined if the placeholder is not in a name's position. */
function textPieces(value: object, naming: NameSlot<never>, encode: (value: object) => string): readonly string[] {
  const pieces = encode(value).split(naming.placeholder);
  const probe = `${naming.placeholder}-probe`;
  return encode(naming.rename(value as never, probe)) === pieces.join(probe) ? pieces : [];
}

interface NamedBytes {
  readonly naming: NameSlot<never>;
  readonly bytes: Buffer;
  /** The placeholder's position; undefined if another name of the same length changes more than that. */
  readonly offsets: readonly number[] | undefined;
}

/**
 * Memoizes a binary encoding of a value by a second argument of few different values. A variant's encoding is a copy with another name, if both have
 * the same length.
 */
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
