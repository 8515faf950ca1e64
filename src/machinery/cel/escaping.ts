import { lookupTable } from '#base';

// Words of CEL's grammar, and words it reserves; no identifier may be one of them.
const RESERVED: ReadonlySet<string> = new Set(
  ('true false null in as break const continue else for function if import let ' + 'loop package namespace return var void while').split(
    ' ',
  ),
);
const ESCAPES = lookupTable<string>({ __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' });
const UNESCAPES: ReadonlyMap<string, string> = new Map([
  ['underscores', '__'],
  ['dot', '.'],
  ['dash', '-'],
  ['slash', '/'],
]);
const ESCAPABLE = /^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/;
const PLAIN = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export function isReservedWord(name: string): boolean {
  return RESERVED.has(name);
}

/**
 * The identifier of a property in expressions: `x-y` is `x__dash__y`, `namespace` is
 * `__namespace__`. Undefined if the name cannot be escaped.
 */
export function escapeIdentifier(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (PLAIN.test(name) && !name.includes('__')) return name;
  if (!ESCAPABLE.test(name)) return undefined;
  return name.replace(/__|[./-]/g, (match) => ESCAPES[match] ?? match);
}

/** The property name that an escaped identifier stands for, or undefined where an escape in it is unknown. */
export function unescapeIdentifier(identifier: string): string | undefined {
  if (!identifier.includes('__')) return identifier;
  let valid = true;
  const name = identifier.replace(/__([^_]+)__/g, (match, word: string) => {
    const plain = UNESCAPES.get(word);
    if (plain !== undefined) return plain;
    // A reserved word is only escaped when it is the whole name.
    if (!RESERVED.has(word) || match.length !== identifier.length) valid = false;
    return word;
  });
  return valid ? name : undefined;
}
