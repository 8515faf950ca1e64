import type { core } from '#api';

type Toleration = core.Toleration;

/** The union of both lists, without tolerations that another one covers. Of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = distinct([...first, ...second]);
  const later = new TolerationCover([]);
  const candidates: Toleration[] = [];
  for (const toleration of all.toReversed()) {
    if (!later.covers(toleration)) candidates.push(toleration);
    later.add(toleration);
  }
  const merged = new TolerationCover([]);
  return candidates.toReversed().filter((toleration) => {
    const isCovered = merged.covers(toleration);
    if (!isCovered) merged.add(toleration);
    return !isCovered;
  });
}

function distinct(tolerations: readonly Toleration[]): readonly Toleration[] {
  const texts = new Set<string>();
  return tolerations.filter((toleration) => {
    const { size } = texts;
    return texts.add(textOf(toleration)).size > size;
  });
}

function textOf({ key, operator, value, effect, tolerationSeconds }: Toleration): string {
  return JSON.stringify([key, operator, value, effect, String(tolerationSeconds)]);
}

const ANY_KEY = null;

/**
 * Tolerations by what they have in common with those that they cover, so that one look-up replaces a comparison with each. A table for each kind of
 * operator: any value of a key, or one value.
 */
export class TolerationCover {
  readonly #equal = new Set<string>();
  /** The longest time of each group; Infinity without a limit. */
  readonly #seconds = new Map<string, number>();

  constructor(tolerations: readonly Toleration[]) {
    for (const toleration of tolerations) this.add(toleration);
  }

  add(toleration: Toleration): void {
    const { key = '', operator, value, effect, tolerationSeconds } = toleration;
    this.#equal.add(textOf(toleration));
    const isAny = operator === 'Exists';
    if (!isAny && operator && operator !== 'Equal') return;
    const group = groupOf(isAny && key === '' ? ANY_KEY : key, effect, isAny ? undefined : (value ?? ''));
    const limit = effect === 'NoExecute' && tolerationSeconds !== undefined ? tolerationSeconds : Number.POSITIVE_INFINITY;
    this.#seconds.set(group, Math.max(this.#seconds.get(group) ?? Number.NEGATIVE_INFINITY, Number(limit)));
  }

  /** Whether everything that the toleration tolerates is tolerated by one of these. */
  covers(toleration: Toleration): boolean {
    if (this.#equal.has(textOf(toleration))) return true;
    const { key = '', operator, value, effect, tolerationSeconds = Number.POSITIVE_INFINITY } = toleration;
    const values = operator === 'Equal' ? [undefined, value ?? ''] : [undefined];
    const groups = [key, ANY_KEY].flatMap((k) => [effect, ''].flatMap((e) => values.map((v) => groupOf(k, e, v))));
    return groups.some((group) => (this.#seconds.get(group) ?? Number.NEGATIVE_INFINITY) >= tolerationSeconds);
  }
}

function groupOf(key: string | typeof ANY_KEY, effect: string | undefined, value: string | undefined): string {
  return JSON.stringify([key, effect ?? '', value]);
}
