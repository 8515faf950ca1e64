import type { Random } from '#base';
import type { JsonValue, ObjectSchema, Schema } from '#machinery';

/** A path to the values of a field: member names; of lists the first item. */
export interface FieldPath {
  readonly path: readonly string[];
  readonly schema: Schema;
}

const MAX_DEPTH = 7;

/** Every field of a kind, without following recursive types. */
export function fieldsOf(schema: ObjectSchema): readonly FieldPath[] {
  const paths: FieldPath[] = [];
  const walk = (node: Schema, path: readonly string[], inside: readonly string[]) => {
    if (path.length > 0) paths.push({ path, schema: node });
    if (path.length >= MAX_DEPTH) return;
    if (node.type === 'list') walk(node.items, [...path, '0'], inside);
    else if (node.type === 'map') walk(node.values, [...path, 'key'], inside);
    else if (node.type === 'object' && !inside.includes(node.name))
      for (const field of node.fields) walk(field.schema, [...path, field.name], [...inside, node.name]);
  };
  walk(schema, [], []);
  return paths;
}

const NUMBERS: readonly JsonValue[] = [-1, 0, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e300, -0.5, 1e-300, 4294967296];
const WORDS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  '\u0000',
  '\ud800',
  '日本語',
  '\u202e\u200f',
  'a\nb',
  '../..',
  '$(A)',
  '{{',
  '1e9999999',
  '0x',
  '-',
  '10000000000000000000000Ei',
  '2026-13-45T99:99:99Z',
  'true',
  '::1%eth0',
  '10.0.0.0/99',
];
const REPEATED: readonly string[] = ['a', '/', '$(', '0', '.', '-', '日', '\\', ' ', '[', '(', '%', '=,', '"'];

/** An edge-case value: of the field's type or of another. */
export function hostileValue(schema: Schema, random: Random, maxLength: number): JsonValue {
  const pick = <T>(items: readonly T[]): T => items[random.int(items.length)]!;
  const long = () => pick(REPEATED).repeat(Math.ceil(maxLength / 2));
  const item = (): JsonValue => (schema.type === 'list' ? plausible(schema.items) : plausible(schema));
  switch (random.int(10)) {
    case 0:
      return long();
    case 1:
      return pick(WORDS);
    case 2:
      return pick(NUMBERS);
    case 3:
      return nested(random.int(2) === 0 ? 100 : 1000, random.int(2) === 0);
    case 4:
      return Array.from({ length: Math.ceil(maxLength / 20) }, item);
    case 5:
      return JSON.parse(
        `{${Array.from({ length: Math.ceil(maxLength / 20) }, (_, i) => `"k${i}":${JSON.stringify(plausible(schema))}`).join()}}`,
      ) as JsonValue;
    case 6:
      // As in JSON: an own member with this name, not the prototype.
      return JSON.parse(`{"${pick(['__proto__', 'constructor', 'toString'])}":{"a":1}}`) as JsonValue;
    case 7:
      return pick<JsonValue>([null, true, [], {}, [null], [[]], [{}]]);
    case 8:
      return pick(WORDS).repeat(1 + random.int(50));
    default:
      return plausible(schema);
  }
}

function nested(depth: number, isList: boolean): JsonValue {
  const [open, close] = isList ? ['[', ']'] : ['{"a":', '}'];
  return JSON.parse(`${open.repeat(depth)}${isList ? '' : '1'}${close.repeat(depth)}`) as JsonValue;
}

/** A value of the right type. */
function plausible(schema: Schema): JsonValue {
  switch (schema.type) {
    case 'string':
    case 'intOrString':
      return 'a';
    case 'bool':
      return true;
    case 'int32':
    case 'int64':
    case 'double':
      return 1;
    case 'quantity':
      return '1';
    case 'time':
      return '2026-01-01T00:00:00Z';
    case 'microTime':
      return '2026-01-01T00:00:00.000000Z';
    case 'duration':
      return '1s';
    case 'bytes':
      return 'YQ==';
    case 'list':
      return [plausible(schema.items)];
    case 'map':
      return { a: plausible(schema.values) };
    default:
      return {};
  }
}

/** Sets the value at a path, with the objects on the way. Only sets own members, also for names such as `__proto__`. */
export function withValue(object: JsonValue, path: readonly string[], value: JsonValue): JsonValue {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (name === '0') {
    const list = Array.isArray(object) ? object : [];
    return [withValue(list[0] ?? null, rest, value), ...list.slice(1)];
  }
  const members = typeof object === 'object' && object !== null && !Array.isArray(object) ? object : {};
  return { ...members, [name]: withValue((members as Record<string, JsonValue>)[name] ?? null, rest, value) };
}
