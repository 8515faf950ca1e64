const LETTER = /\p{L}/u;
const DIGIT = /^\p{Nd}$/u;

/** The order of keys in Go's YAML: letters after all else, and numbers within keys by their value, so that `a2` comes before `a10`. */
export function compareYamlKeys(a: string, b: string): number {
  const x = [...a];
  const y = [...b];
  const length = Math.min(x.length, y.length);
  for (let i = 0; i < length; i++) {
    if (x[i] !== y[i]) return compareAt(x, y, i);
  }
  return x.length - y.length;
}

function compareAt(x: readonly string[], y: readonly string[], i: number): number {
  const isLetter = LETTER.test(x[i]!);
  const isOtherLetter = LETTER.test(y[i]!);
  if (isLetter !== isOtherLetter) return isOtherLetter ? -1 : 1;
  if (isLetter) return byCode(x[i]!, y[i]!);
  const isInNumber = (x[i] === '0' || y[i] === '0') && followsDigits(x, i);
  const first = numberAt(x, i, isInNumber);
  const second = numberAt(y, i, isInNumber);
  if (first.value !== second.value) return first.value < second.value ? -1 : 1;
  return first.end - second.end || byCode(x[i]!, y[i]!);
}

/** Whether the digits before `i` (not all zero) make the following digits part of their number. */
function followsDigits(characters: readonly string[], i: number): boolean {
  for (let j = i - 1; j >= 0 && DIGIT.test(characters[j]!); j--) {
    if (characters[j] !== '0') return true;
  }
  return false;
}

interface KeyNumber {
  readonly value: bigint;
  readonly end: number;
}

function numberAt(characters: readonly string[], start: number, isInNumber: boolean): KeyNumber {
  let value = isInNumber ? 1n : 0n;
  let end = start;
  for (; end < characters.length && DIGIT.test(characters[end]!); end++) {
    value = value * 10n + BigInt(characters[end]!.codePointAt(0)! - 0x30);
  }
  return { value, end };
}

function byCode(a: string, b: string): number {
  return a.codePointAt(0)! - b.codePointAt(0)!;
}
