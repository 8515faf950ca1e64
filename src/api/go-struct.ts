import { compareBytes, type Field, type ObjectSchema, type Schema } from '#machinery';
import { INTERNAL_NAMES, INTERNAL_ORDER, INTERNAL_VALUES } from './internal-structs.ts';

/**
 * A value as upstream prints structs in messages: JSON of its internal types, which have no JSON names, so that every field appears under its Go
 * name, with null if unset.
 */
export function goStruct(schema: ObjectSchema, value: object | null | undefined): object | null {
  return value ? structOf(schema, value as Members) : null;
}

type Members = Readonly<Record<string, unknown>>;

/** A map as Go prints it: sorted by key, null if nil. */
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
  // Types shared by all versions have JSON names internally too.
  if (schema.name.startsWith(META_TYPES)) return sharedStruct(schema, value);
  const printed: Record<string, unknown> = {};
  const names = INTERNAL_NAMES[schema.name];
  const plain = INTERNAL_VALUES[schema.name];
  for (const field of internalFields(schema)) {
    if (field.number === 0 && !field.embeddedIn) continue;
    const member = value[field.name] ?? (plain?.includes(field.name) ? zeroOf(field.schema) : undefined);
    printed[names?.[field.name] ?? goName(field.name)] = printField(field, member);
  }
  return printed;
}

function internalFields(schema: ObjectSchema): readonly Field[] {
  const order = INTERNAL_ORDER[schema.name];
  if (!order) return schema.fields;
  const rank = (name: string) => order.indexOf(name);
  const listed = schema.fields.filter(({ name }) => rank(name) >= 0).sort((a, b) => rank(a.name) - rank(b.name));
  // The listed fields are grouped at the position of the first.
  const first = schema.fields.findIndex(({ name }) => rank(name) >= 0);
  const others = schema.fields.filter(({ name }) => rank(name) < 0);
  return [...others.slice(0, first), ...listed, ...others.slice(first)];
}

/** Required fields always appear, others only if set. */
function sharedStruct(schema: ObjectSchema, value: Members): object {
  const printed: Record<string, unknown> = {};
  for (const { name, schema: inner, required, presence } of schema.fields) {
    const member = value[name];
    const isPointer = presence === 'set' || presence === 'nullable';
    const isSet = isPointer ? member !== undefined && member !== null : !isEmpty(member);
    if (isSet) printed[name] = printValue(inner, member);
    else if (required) printed[name] = zeroOf(inner);
  }
  return printed;
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return !value;
  return Object.keys(value).length === 0;
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
