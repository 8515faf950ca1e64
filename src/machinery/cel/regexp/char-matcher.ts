/** A set of characters, by code point. */
export interface CharMatcher {
  matches(codePoint: number): boolean;
}

export const ANY_CHARACTER: CharMatcher = { matches: () => true };
export const ANY_BUT_NEWLINE: CharMatcher = { matches: (codePoint) => codePoint !== 10 };

export function literalMatcher(codePoint: number, foldCase: boolean): CharMatcher {
  if (foldCase && hasCase(codePoint)) return classMatcher([{ low: codePoint, high: codePoint }], { foldCase, negated: false });
  return { matches: (other) => other === codePoint };
}

function hasCase(codePoint: number): boolean {
  return codePoint > 0x7f || /[a-zA-Z]/.test(String.fromCodePoint(codePoint));
}

/** A part of a character class: a range, or a Unicode property with JavaScript's name for it. */
export type ClassItem =
  | { readonly low: number; readonly high: number }
  | { readonly property: string; readonly negated: boolean }
  /** A class within the class, such as `\D` or `[:^alpha:]`. */
  | { readonly ranges: readonly { readonly low: number; readonly high: number }[]; readonly negated: boolean };

/**
 * The characters of a class. ASCII ranges are a table; for others JavaScript's engine matches one character at a time, which is constant time and
 * uses Unicode's simple case folding, as Go does.
 */
export function classMatcher(items: readonly ClassItem[], options: { readonly foldCase: boolean; readonly negated: boolean }): CharMatcher {
  const tests = items.map((item) => itemTest(item, options.foldCase));
  const isMember = (codePoint: number): boolean => tests.some((test) => test(codePoint)) !== options.negated;
  const ascii = Uint8Array.from({ length: 128 }, (_, codePoint) => (isMember(codePoint) ? 1 : 0));
  return { matches: (codePoint) => (codePoint < 128 ? ascii[codePoint] === 1 : isMember(codePoint)) };
}

function itemTest(item: ClassItem, foldCase: boolean): (codePoint: number) => boolean {
  if ('property' in item) return regexTest(`\\p{${item.property}}`, item.negated, foldCase);
  if ('ranges' in item) {
    const tests = item.ranges.map((range) => rangeTest(range, foldCase));
    return (codePoint) => tests.some((test) => test(codePoint)) !== item.negated;
  }
  return rangeTest(item, foldCase);
}

function rangeTest(range: { readonly low: number; readonly high: number }, foldCase: boolean): (codePoint: number) => boolean {
  const { low, high } = range;
  if (!foldCase) return (codePoint) => codePoint >= low && codePoint <= high;
  return regexTest(`[\\u{${low.toString(16)}}-\\u{${high.toString(16)}}]`, false, true);
}

function regexTest(source: string, negated: boolean, foldCase: boolean): (codePoint: number) => boolean {
  // bounded: one character.
  const regex = new RegExp(`^${source}$`, foldCase ? 'iu' : 'u');
  return (codePoint) => regex.test(String.fromCodePoint(codePoint)) !== negated;
}

const CATEGORIES: ReadonlySet<string> = new Set(
  'Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs'.split(' '),
);

/** JavaScript's name for a category or script that Go knows, or undefined. */
export function unicodeProperty(name: string): string | undefined {
  if (CATEGORIES.has(name)) return name;
  if (name === 'Any' || name === 'C') return name === 'Any' ? 'Any' : 'Other';
  if (!/^[A-Z][A-Za-z_]+$/.test(name)) return undefined;
  try {
    // bounded: one character.
    new RegExp(`\\p{Script=${name}}`, 'u');
    return `Script=${name}`;
  } catch {
    return undefined;
  }
}
