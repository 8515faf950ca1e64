import { YamlError } from './yaml-error.ts';

/** What a YAML scalar can be in JSON. */
export type YamlScalar = string | number | bigint | boolean | null;

const STANDARD = 'tag:yaml.org,2002:';

const TRUE = ['y', 'yes', 'true', 'on'];
const FALSE = ['n', 'no', 'false', 'off'];
const WORDS: ReadonlyMap<string, YamlScalar> = new Map<string, YamlScalar>([
  ...TRUE.flatMap((word) => spellings(word).map((text) => [text, true] as const)),
  ...FALSE.flatMap((word) => spellings(word).map((text) => [text, false] as const)),
  ...['', '~', 'null', 'Null', 'NULL'].map((text) => [text, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((text) => [text, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((text) => [text, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((text) => [text, Number.NEGATIVE_INFINITY] as const),
]);

const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const TIMESTAMP = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?$/;

// As YAML 1.1 spells booleans: lower case, capitalized, upper case. Of one letter there are two.
function spellings(word: string): string[] {
  return [...new Set([word, word[0]?.toUpperCase() + word.slice(1), word.toUpperCase()])];
}

/**
 * The value of a scalar, as the API's YAML library takes it: YAML 1.1, so `yes` and `on` are true and `010` is eight. Quoted scalars are
 * strings, and so are dates. `tag` is empty when none is written.
 */
export function resolveScalar(text: string, tag: string, isPlain: boolean): YamlScalar {
  if (tag === '' && !isPlain) return text;
  if (tag === `${STANDARD}binary`) return decodeBinary(text);
  if (tag !== '' && !tag.startsWith(STANDARD)) return text;
  const kind = tag.slice(STANDARD.length);
  if (kind === 'str') return text;
  return asTagged(resolvePlain(text), kind, text);
}

/** The full name of a tag as it is written: `!!str` is `tag:yaml.org,2002:str`. */
export function tagName(written: string): string {
  if (written.startsWith('!!')) return STANDARD + written.slice(2);
  return written.startsWith('!<') && written.endsWith('>') ? written.slice(2, -1) : written;
}

function resolvePlain(text: string): YamlScalar {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  const isNumeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  return isNumeric && !TIMESTAMP.test(text) ? (resolveNumber(text) ?? text) : text;
}

function resolveNumber(text: string): number | bigint | undefined {
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '');
  const integer = resolveInteger(plain);
  if (integer !== undefined) return integer;
  return FLOAT.test(plain) ? Number(plain) : undefined;
}

const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))$/;

function resolveInteger(text: string): number | bigint | undefined {
  const match = INTEGER.exec(text);
  if (match === null || text.length > 100) return undefined;
  const [, sign, hex, octal, binary, decimal] = match;
  const digits =
    hex !== undefined ? `0x${hex}` : octal !== undefined ? `0o${octal}` : binary !== undefined ? `0b${binary}` : (decimal ?? '0');
  const magnitude = BigInt(digits);
  const value = sign === '-' ? -magnitude : magnitude;
  // Integers beyond 64 bits are not integers.
  if (value < -(2n ** 63n) || value >= 2n ** 64n) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function asTagged(value: YamlScalar, kind: string, text: string): YamlScalar {
  const actual = kindOf(value);
  if (kind === '' || kind === actual) return value;
  if (kind === 'float' && actual === 'int') return Number(value);
  if (!['bool', 'int', 'float', 'null', 'timestamp'].includes(kind)) return text;
  if (kind === 'timestamp' && TIMESTAMP.test(text)) return text;
  throw new YamlError(`cannot decode !!${actual} \`${text}\` as a !!${kind}`);
}

function kindOf(value: YamlScalar): string {
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    default:
      return 'null';
  }
}

function decodeBinary(text: string): string {
  const compact = text.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0)
    throw new YamlError('!!binary value contains invalid base64 data');
  return Buffer.from(compact, 'base64').toString('utf8');
}

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const WRITTEN_TIME =
  /^[0-9]{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12][0-9]|3[01])(?:(?:[Tt]| )(?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?$/;

/** Whether a plain text is parsed as the same string. */
export function resolvesToString(text: string): boolean {
  if (text === '<<' || BASE_60.test(text) || WRITTEN_TIME.test(text)) return false;
  return typeof resolvePlain(text) === 'string';
}
