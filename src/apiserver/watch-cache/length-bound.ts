import { oncePerValue } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';

/** Of a UTF-16 unit in JSON text: at worst it is written as `\u001f`. */
const UNIT_BYTES = 6;
/** Of a number, or of a member's quotes, colon and comma. */
const OTHER_BYTES = 32;
/** A value that recurs may have a longer name in this object than in another; names are short. */
const NAME_BYTES = 16 * 1024;

/** As JSON, the object takes no more bytes than this. Much cheaper to know than how many it takes. */
export function lengthBound(object: KubeObject): number {
  let bytes = NAME_BYTES;
  for (const field in object) {
    const value = object[field];
    if (field === 'metadata') bytes += metadataBound(object.metadata);
    else bytes += keyBound(field) + (typeof value === 'object' && value !== null ? boundOnce(value) : boundOf(value));
  }
  return bytes;
}

function metadataBound(metadata: KubeObject['metadata']): number {
  let bytes = OTHER_BYTES;
  for (const key in metadata) {
    const value = metadata[key as keyof typeof metadata];
    bytes += keyBound(key) + (key === 'managedFields' && Array.isArray(value) ? ownershipBound(value) : boundOf(value));
  }
  return bytes;
}

/** Many objects share the sets of fields that they say somebody owns. */
const setBounds = new WeakMap<object, number>();

function ownershipBound(entries: readonly { readonly fieldsV1?: object }[]): number {
  let bytes = OTHER_BYTES;
  for (const { fieldsV1, ...rest } of entries) bytes += boundOf(rest) + (fieldsV1 === undefined ? 0 : setBound(fieldsV1));
  return bytes;
}

function setBound(set: object): number {
  let bytes = setBounds.get(set);
  if (bytes === undefined) {
    bytes = OTHER_BYTES + boundOf(set);
    setBounds.set(set, bytes);
  }
  return bytes;
}

const boundOnce = oncePerValue((value: object) => boundOf(value));

function keyBound(key: string): number {
  return key.length * UNIT_BYTES + OTHER_BYTES;
}

function boundOf(value: unknown): number {
  if (typeof value === 'string') return value.length * UNIT_BYTES + OTHER_BYTES;
  if (typeof value === 'bigint') return String(value).length + OTHER_BYTES;
  if (typeof value !== 'object' || value === null) return OTHER_BYTES;
  let bytes = OTHER_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += boundOf(item);
  else for (const key in value) bytes += keyBound(key) + boundOf((value as Record<string, unknown>)[key]);
  return bytes;
}
