import type { core } from '#api';

type Toleration = core.Toleration;

/** The union of both lists, without tolerations that another one covers. Of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const later = new TolerationCover([]);
  const candidates: Toleration[] = [];
  for (const toleration of [...first, ...second].reverse()) {
    if (!later.coversOther(toleration)) candidates.push(toleration);
    later.add(toleration);
  }
  const merged = new TolerationCover([]);
  return candidates.toReversed().filter((toleration) => {
    const isCovered = merged.covers(toleration);
    if (!isCovered) merged.add(toleration);
    return !isCovered;
  });
}

function textOf({ key, operator, value, effect, tolerationSeconds }: Toleration): string {
  return JSON.stringify([key, operator, value, effect, String(tolerationSeconds)]);
}

const ANY_KEY = null;

/** How long a toleration tolerates what its group has in common; Infinity without a limit. */
interface TimeLimit {
  readonly seconds: number;
  readonly text: string;
}

/**
 * Tolerations by what they have in common with those that they cover, so that one look-up replaces a comparison with each. A table for each kind of
 * operator: any value of a key, or one value.
 */
export class TolerationCover {
  readonly #equal = new Set<string>();
  /** The longest times of each group, of two different tolerations at most. */
  readonly #limits = new Map<string, readonly TimeLimit[]>();

  constructor(tolerations: readonly Toleration[]) {
    for (const toleration of tolerations) this.add(toleration);
  }

  add(toleration: Toleration): void {
    const { key = '', operator, value, effect, tolerationSeconds } = toleration;
    const text = textOf(toleration);
    this.#equal.add(text);
    const isAny = operator === 'Exists';
    if (!isAny && operator && operator !== 'Equal') return;
    const group = groupOf(isAny && key === '' ? ANY_KEY : key, effect, isAny ? undefined : (value ?? ''));
    const seconds = effect === 'NoExecute' && tolerationSeconds !== undefined ? Number(tolerationSeconds) : Number.POSITIVE_INFINITY;
    const limits = this.#limits.get(group) ?? [];
    if (limits.some((limit) => limit.text === text)) return;
    this.#limits.set(group, [...limits, { seconds, text }].sort((a, b) => b.seconds - a.seconds).slice(0, 2));
  }

  /** Whether everything that the toleration tolerates is tolerated by one of these. */
  covers(toleration: Toleration): boolean {
    return this.#equal.has(textOf(toleration)) || limitsOver(toleration, this.#limits).length > 0;
  }

  /** The same, by one that is not equal to it. */
  coversOther(toleration: Toleration): boolean {
    const text = textOf(toleration);
    return limitsOver(toleration, this.#limits).some((limit) => limit.text !== text);
  }
}

function limitsOver(toleration: Toleration, limits: ReadonlyMap<string, readonly TimeLimit[]>): readonly TimeLimit[] {
  const { key = '', operator, value, effect, tolerationSeconds = Number.POSITIVE_INFINITY } = toleration;
  const values = operator === 'Equal' ? [undefined, value ?? ''] : [undefined];
  const groups = [key, ANY_KEY].flatMap((k) => [effect, ''].flatMap((e) => values.map((v) => groupOf(k, e, v))));
  return groups.flatMap((group) => limits.get(group) ?? []).filter(({ seconds }) => seconds >= tolerationSeconds);
}

function groupOf(key: string | typeof ANY_KEY, effect: string | undefined, value: string | undefined): string {
  return JSON.stringify([key, effect ?? '', value]);
}
