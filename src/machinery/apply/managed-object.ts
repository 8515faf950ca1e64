import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { ManagedFieldsEntry } from './owners.ts';

/** An object without its managedFields, which are not owned. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isJsonObject(metadata) || metadata.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

export function withManagedFields(object: JsonObject, entries: readonly ManagedFieldsEntry[] | undefined): JsonObject {
  if (entries === undefined) return withoutManagedFields(object);
  const metadata = isJsonObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata: { ...metadata, managedFields: entries as unknown as JsonValue } };
}

export function managedFieldsOf(object: JsonObject): JsonValue | undefined {
  return isJsonObject(object.metadata) ? object.metadata.managedFields : undefined;
}

export function metadataText(object: JsonObject, name: 'name' | 'namespace' | 'uid'): string {
  const value = isJsonObject(object.metadata) ? object.metadata[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** Whether a client's document (or a patch's result) resets ownership. Check before decoding, which drops empty lists. */
export function resetsManagedFields(document: object): boolean {
  return isReset(managedFieldsOf(document as JsonObject));
}

/** A client resets ownership by sending an empty list, or a list of one empty entry. */
export function isReset(entries: JsonValue | undefined): boolean {
  if (!isJsonArray(entries)) return false;
  const [first] = entries;
  return entries.length === 0 || (entries.length === 1 && isJsonObject(first) && Object.values(first).every(isZero));
}

function isZero(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}
