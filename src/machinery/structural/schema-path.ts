import { Path } from '../errors/field-path.ts';
import { additionalOf, type JsonSchema, propertyOf } from './json-schema.ts';

export class SchemaPathError extends Error {
  override readonly name = 'SchemaPathError';
}

export interface SchemaPath {
  readonly path: Path;
  /** The schema at the path. */
  readonly schema: JsonSchema | undefined;
  /** The name of the first step. */
  readonly root: string;
}

// bounded: a quote that is not closed is looked for once, since a second one would close it.
const TOKEN = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g;

/**
 * Follows a path of fields and map keys (`.spec.a`, `.labels['a.b']`) through a schema. Throws SchemaPathError with upstream's text for invalid
 * paths.
 */
export function followSchemaPath(text: string, schema: JsonSchema, { subscripts = true } = {}): SchemaPath {
  const tokens = text.match(TOKEN) ?? [];
  let current: SchemaPath = { path: Path.none, schema, root: '' };
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as string;
    if (token === '.') current = step(current, next(tokens, ++i));
    else if (token === '[') {
      if (!subscripts) throw new SchemaPathError('array notation is not allowed');
      current = step(current, unquoted(next(tokens, ++i)));
      const close = next(tokens, ++i);
      if (close !== ']') throw new SchemaPathError(`expected ] but got ${close}`);
    } else throw new SchemaPathError(`expected [ or . but got: ${token}`);
  }
  return current;
}

function next(tokens: readonly string[], index: number): string {
  const token = tokens[index];
  if (token === undefined) throw new SchemaPathError('unexpected end of JSON path');
  return token;
}

function step({ path, schema, root }: SchemaPath, name: string): SchemaPath {
  const first = root === '' ? name : root;
  if (schema?.properties !== undefined && Object.keys(schema.properties).length > 0) {
    const property = propertyOf(schema, name);
    if (property === undefined) throw new SchemaPathError('does not refer to a valid field');
    return { path: path.child(name), schema: property, root: first };
  }
  if (schema?.additionalProperties === undefined) throw new SchemaPathError('does not refer to a valid field');
  return { path: path.key(name), schema: additionalOf(schema), root: first };
}

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', "'": "'", '\\': '\\' }),
);

function unquoted(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'"))
    throw new SchemaPathError(`expected single quoted string but got ${token}`);
  return token.slice(1, -1).replace(/\\(.)/gs, (pair: string, char: string) => {
    const unescaped = ESCAPES.get(char);
    if (unescaped === undefined) throw new SchemaPathError(`invalid string literal: invalid escape char ${pair}`);
    return unescaped;
  });
}
