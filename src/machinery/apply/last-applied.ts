import { encodeSortedJson } from '../json/encode-deep-json.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { goJsonEscape } from '../values/go-format.ts';
import { compareValues } from './compare.ts';
import { difference, type FieldSet } from './field-set.ts';
import { fieldsOfObject } from './object-fields.ts';
import type { OwnershipRules } from './ownership.ts';
import { ListItemError } from './typed-value.ts';
import { typedProblems } from './validate-typed.ts';

/** The annotation in which `kubectl apply` without server-side apply keeps what it applied. */
export const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

const MAX_ANNOTATIONS_SIZE = 256 * 1024;

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const annotations = isJsonObject(object.metadata) ? object.metadata.annotations : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function lastAppliedOf(object: JsonObject): string {
  const text = annotationsOf(object)?.[LAST_APPLIED_ANNOTATION];
  return typeof text === 'string' ? text : '';
}

/**
 * The fields that client-side apply set and that still have its values: kubectl may take them over without conflict when a user switches to
 * server-side apply. Undefined without a usable annotation.
 */
export function fieldsOfLastApplied(rules: OwnershipRules, live: JsonObject): FieldSet | undefined {
  const lastApplied = parseObject(lastAppliedOf(live));
  if (lastApplied === undefined || lastApplied.apiVersion !== rules.apiVersion) return undefined;
  if (typedProblems(rules.shape, lastApplied) !== undefined || typedProblems(rules.shape, live) !== undefined) return undefined;
  try {
    const { added, modified, removed } = compareValues(rules.shape, lastApplied, live);
    return difference(difference(difference(fieldsOfObject(rules.shape, lastApplied), modified), added), removed);
  } catch (error) {
    if (error instanceof ListItemError) return undefined;
    throw error;
  }
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the annotation of client-side apply up to date, so that a user can switch back to it. */
export function syncLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  if (lastAppliedOf(object) === '' || !isJsonObject(object.metadata)) return object;
  const { [LAST_APPLIED_ANNOTATION]: _, ...others } = annotationsOf(object) ?? {};
  const text = lastAppliedText(applied);
  const annotations = { ...others, [LAST_APPLIED_ANNOTATION]: text };
  const fits = sizeOf(annotations) <= MAX_ANNOTATIONS_SIZE;
  return { ...object, metadata: { ...object.metadata, annotations: fits ? annotations : others } };
}

function lastAppliedText(applied: JsonObject): string {
  return `${goJsonEscape(encodeSortedJson(withoutLastApplied(applied)))}\n`;
}

function withoutLastApplied(applied: JsonObject): JsonObject {
  const annotations = annotationsOf(applied);
  if (annotations === undefined || !isJsonObject(applied.metadata)) return applied;
  const { [LAST_APPLIED_ANNOTATION]: _, ...rest } = annotations;
  return { ...applied, metadata: { ...applied.metadata, annotations: rest } };
}

function sizeOf(annotations: JsonObject): number {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) size += Buffer.byteLength(key) + Buffer.byteLength(String(value));
  return size;
}
