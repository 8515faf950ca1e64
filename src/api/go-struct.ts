import { compareBytes, type Field, type ObjectSchema, type Schema } from '#machinery';

/**
 * A value as upstream prints structs in its messages: JSON of its internal types, which have no JSON names, so that every field is there,
 * under its name in Go, with null for what is unset.
 */
export function goStruct(schema: ObjectSchema, value: object | undefined): object | null {
  return value === undefined ? null : structOf(schema, value as Members);
}

type Members = Readonly<Record<string, unknown>>;

/** A map as Go prints it: sorted by key, null when there is none. */
export function goMap(map: Members | undefined): Members | null {
  if (map === undefined || map === null) return null;
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => compareBytes(a, b)));
}

const WORDS = 'api aws cel cidr csi dns fc fs gce gmsa grpc http ip iqn iscsi nfs os pd qos rbd se tcp tls ttl tty uid url'.split(' ');
const INITIALISMS: ReadonlyMap<string, string> = new Map([
  ...WORDS.map((word) => [word, word.toUpperCase()] as const),
  ['cephfs', 'CephFS'],
  ['storageos', 'StorageOS'],
]);
const META_TYPES = 'io.k8s.apimachinery.';

function structOf(schema: ObjectSchema, value: Members): object {
  // Types shared by all versions have JSON names, internally too.
  if (schema.name.startsWith(META_TYPES)) return inOrder(schema, value);
  const printed: Record<string, unknown> = {};
  for (const field of schema.fields) {
    if (field.number !== 0 || field.embeddedIn) printed[goName(field.name)] = printField(field, value[field.name]);
  }
  return printed;
}

function inOrder(schema: ObjectSchema, value: Members): object {
  return Object.fromEntries(schema.fields.flatMap(({ name }) => (value[name] === undefined ? [] : [[name, value[name]]])));
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
      return Object.fromEntries(sortedEntries(value as Members).map(([key, member]) => [key, printValue(schema.values, member)]));
    default:
      return value;
  }
}

function sortedEntries(members: Members): [string, unknown][] {
  return Object.entries(members).sort(([a], [b]) => compareBytes(a, b));
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
