import { oncePerValue } from '#machinery';
import type { KubeObject } from './kube-object.ts';

/** The maximum bytes of a UTF-16 unit in JSON: `\u001f`. */
const UNIT_BYTES = 6;
/** The maximum bytes of a number, or of a member's punctuation. */
const OTHER_BYTES = 32;
/** Allowance for recurring values with longer names. */
const NAME_BYTES = 16 * 1024;

/** An upper bound of the object's JSON length; much cheaper than the exact length. */
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

/** Cached: many objects share field sets of managedFields. */
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

/** The recursion limit; an object of 10,000 levels would overflow the stack. */
const MAX_CALLS = 500;

function boundOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length * UNIT_BYTES + OTHER_BYTES;
  if (typeof value === 'bigint') return String(value).length + OTHER_BYTES;
  if (typeof value !== 'object' || value === null) return OTHER_BYTES;
  if (depth > MAX_CALLS) return deepBound(value);
  let bytes = OTHER_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += boundOf(item, depth + 1);
  else for (const key in value) bytes += keyBound(key) + boundOf((value as Record<string, unknown>)[key], depth + 1);
  return bytes;
}

function deepBound(root: object): number {
  let bytes = 0;
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) {
      bytes += boundOf(value);
      continue;
    }
    bytes += OTHER_BYTES;
    for (const key in value) {
      bytes += Array.isArray(value) ? 0 : keyBound(key);
      pending.push((value as Record<string, unknown>)[key]);
    }
  }
  return bytes;
}
