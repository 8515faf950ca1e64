import { StatusError } from '../errors/status-error.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { type ApplyPatchOptions, applyPatch } from './apply-patch.ts';
import type { ManagedFieldsEntry } from './owners.ts';
import { Thing } from './thing.test-schema.ts';
import { type UpdateManagedFieldsOptions, updateManagedFields } from './update-managed-fields.ts';

export const KIND = { group: 'example.com', version: 'v1', kind: 'Thing' };
export const TIMES = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z', '2026-01-01T00:00:03Z'] as const;
export const SPEC_ONLY = [['status']];

export function example(rest: Record<string, JsonValue> = {}): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, ...rest };
}

export function apply(live: JsonObject | undefined, applied: JsonObject, options: Partial<ApplyPatchOptions> = {}): JsonObject {
  const result = applyPatch({
    schema: Thing,
    kind: KIND,
    live,
    applied,
    manager: 'm1',
    force: false,
    now: TIMES[0],
    resetFields: SPEC_ONLY,
    ...options,
  });
  return stored(result);
}

export function update(
  live: JsonObject | undefined,
  updated: JsonObject,
  options: Partial<UpdateManagedFieldsOptions<JsonObject>> = {},
): JsonObject {
  const base = { schema: Thing, apiVersion: 'example.com/v1', live, updated, manager: 'edit', now: TIMES[1], resetFields: SPEC_ONLY };
  return stored(updateManagedFields({ ...base, ...options }));
}

export const stored = (object: JsonObject): JsonObject => ({ ...object, metadata: { ...(object.metadata as JsonObject), uid: 'u' } });
export const entriesOf = (object: JsonObject) => ((object.metadata as JsonObject).managedFields ?? []) as unknown as ManagedFieldsEntry[];
export const ownersOf = (object: JsonObject) =>
  Object.fromEntries(entriesOf(object).map((e) => [`${e.manager} ${e.operation}`, e.fieldsV1]));

export function failure(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

export const pod = (spec: Record<string, JsonValue>) => example({ spec });
