import type { Field, ObjectSchema, Schema } from '#machinery';

/**
 * A value as upstream prints structs in its messages: JSON of its internal types, which have no JSON names, so that every field is there,
 * under its name in Go, with null for what is unset.
 */
export function goStruct(schema: ObjectSchema, value: object | undefined): object | null {
  return value === undefined ? null : structOf(schema, value as Members);
}

type Members = Readonly<Record<string, unknown>>;

const INITIALISMS: ReadonlyMap<string, string> = new Map(
  ['api', 'cidr', 'ip', 'uid', 'cel', 'fs', 'pd', 'iqn', 'url', 'csi', 'nfs', 'rbd', 'fc', 'http', 'tls'].map((word) => [
    word,
    word.toUpperCase(),
  ]),
);

function structOf(schema: ObjectSchema, value: Members): object {
  const printed: Record<string, unknown> = {};
  for (const field of schema.fields) {
    if (field.number !== 0 || field.embeddedIn) printed[goName(field.name)] = printField(field, value[field.name]);
  }
  return printed;
}

/** clusterIP is ClusterIP, apiGroup is APIGroup, uid is UID. */
function goName(name: string): string {
  const [first = ''] = /^[a-z0-9]*/.exec(name) ?? [];
  const capital = INITIALISMS.get(first) ?? name.charAt(0).toUpperCase() + first.slice(1);
  return (capital + name.slice(first.length)).replace(/Id$/, 'ID');
}

function printField({ schema, presence }: Field, value: unknown): unknown {
  if (value !== undefined && value !== null) return printValue(schema, value);
  const isPointer = presence === 'set' || presence === 'nullable';
  return isPointer ? null : zeroOf(schema);
}

function printValue(schema: Schema, value: unknown): unknown {
  switch (schema.type) {
    case 'object':
      return structOf(schema, value as Members);
    case 'list':
      return (value as readonly unknown[]).map((item) => printValue(schema.items, item));
    case 'map':
      return Object.fromEntries(Object.entries(value as Members).map(([key, member]) => [key, printValue(schema.values, member)]));
    default:
      return value;
  }
}

function zeroOf(schema: Schema): unknown {
  switch (schema.type) {
    case 'object':
      return structOf(schema, {});
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    default:
      return null;
  }
}
