import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  type DecodedObject,
  type DocumentPath,
  decodeJsonPatch,
  decodeMergePatch,
  decodeObject,
  encodeJson,
  FieldError,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  JsonPatchError,
  JsonSyntaxError,
  type JsonValue,
  type ObjectSchema,
  type ParsedDocument,
  Path,
  parseGroupVersion,
  parseJson,
  patchRejected,
  type Schema,
  StatusError,
  StrategicPatchError,
} from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { mediaTypeOf } from '../request/parse-body.ts';
import { applyObject } from './apply.ts';
import { notRegistered, reportProblems, withReset } from './decode-body.ts';
import { ownFields } from './field-ownership.ts';
import type { ResourceCall } from './resource-call.ts';
import { identified } from './update.ts';
import { updateObject } from './update-object.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

export const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const BODY_LIMIT = 3 * 1024 * 1024;

export async function handlePatch(call: ResourceCall): Promise<ApiResponse> {
  const { resource, request } = call;
  const type = patchType(call);
  const options = writeOptions(request, 'PatchOptions');
  refuseForce(request.query, type);
  if (type === PATCH_TYPES.apply) return applyObject(call, options);
  const patch = await patchBody(call, type);
  const { object } = await updateObject(call, {
    options,
    compute: (live) => ownFields(call, { live, updated: patched(call, { live, patch, type, options }), options }),
  });
  return { type: 'object', code: 200, resource, object };
}

function patchType({ request, resource }: ResourceCall): string {
  const type = mediaTypeOf(request.body.contentType);
  const supported = resource.custom
    ? [PATCH_TYPES.json, PATCH_TYPES.merge, PATCH_TYPES.apply]
    : [PATCH_TYPES.json, PATCH_TYPES.merge, PATCH_TYPES.strategic, PATCH_TYPES.apply];
  if ((supported as readonly string[]).includes(type)) return type;
  throw StatusError.unsupportedMediaType(supported);
}

function refuseForce(query: URLSearchParams, type: string): void {
  const errors: FieldError[] = [];
  if (type === PATCH_TYPES.apply) {
    if (!query.get('fieldManager')) errors.push(FieldError.required(Path.of('fieldManager'), 'is required for apply patch'));
  } else if (query.get('force')) {
    errors.push(FieldError.forbidden(Path.of('force'), 'may not be specified for non-apply patch'));
  }
  if (errors.length > 0) throw StatusError.invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', errors);
}

async function patchBody({ request }: ResourceCall, type: string): Promise<ParsedDocument> {
  const { body } = request;
  if (body.type === 'object') return { value: body.value as JsonValue, duplicates: [] };
  try {
    return parseJson(await body.read(BODY_LIMIT));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw StatusError.badRequest(type === PATCH_TYPES.strategic ? error.message : `error decoding patch: ${error.message}`);
  }
}

interface Patching {
  readonly live: KubeObject;
  readonly patch: ParsedDocument;
  readonly type: string;
  readonly options: WriteOptions;
}

function patched(call: ResourceCall, { live, patch, type, options }: Patching): KubeObject {
  const { resource, request } = call;
  const value = applyPatchOf(type, { live: live as unknown as JsonObject, patch: patch.value, call });
  const { object, error, problems } = decodeAsNamed(call, value, patch.duplicates);
  if (error !== undefined) throw invalidResult(resource.schema, value, error);
  reportProblems({ request, expected: resource, validation: options.fieldValidation }, problems);
  const decoded = identified(withReset(object as unknown as KubeObject, value), call);
  return resource.strategy.defaults?.(decoded) ?? decoded;
}

/** A patch may not turn an object into another kind, but what it says it is decides how it is read. */
function decodeAsNamed({ resource, deps }: ResourceCall, value: JsonValue, duplicates: readonly DocumentPath[]): DecodedObject {
  const { kind = resource.kind, apiVersion = resource.apiVersion } = value as { kind?: string; apiVersion?: string };
  if (kind === resource.kind && apiVersion === resource.apiVersion)
    return decodeObject(resource.schema, named(value, resource), duplicates);
  const { group, version } = parseGroupVersion(apiVersion);
  const other = deps.table.findKind(group, version, kind);
  const read = other && decodeObject(other.schema, value);
  const error = read === undefined ? notRegistered(kind, apiVersion) : (read.error ?? `unable to convert to ${resource.kind}`);
  return { object: {}, error, problems: [] };
}

/** A patch may take an object's kind away; it stays what it is. */
function named(value: JsonValue, { kind, apiVersion }: { kind: string; apiVersion: string }): JsonValue {
  return isJsonObject(value) && (value.kind === undefined || value.apiVersion === undefined) ? { ...value, kind, apiVersion } : value;
}

function invalidResult(schema: ObjectSchema, value: JsonValue, why: string): StatusError {
  const text = encodeJson(topSorted(schema, value as JsonObject));
  return StatusError.invalid({ group: '', kind: '' }, '', [FieldError.invalid(Path.of('patch'), text, why)]);
}

/** As upstream prints a patched document: its members by name, what is in them in the order of their definition. */
function topSorted(schema: ObjectSchema, value: JsonObject): JsonObject {
  const members = Object.keys(value)
    .sort()
    .map((key) => {
      const member = schema.fieldsByName.get(key)?.schema;
      return [key, member === undefined ? value[key]! : inSchemaOrder(member, value[key]!)] as const;
    });
  return Object.fromEntries(members);
}

function inSchemaOrder(schema: Schema, value: JsonValue): JsonValue {
  if (schema.type === 'list' && isJsonArray(value)) return value.map((item) => inSchemaOrder(schema.items, item));
  if (schema.type !== 'object' || !isJsonObject(value)) return value;
  const known = schema.fields.filter(({ name }) => Object.hasOwn(value, name));
  return Object.fromEntries(known.map((field) => [field.name, inSchemaOrder(field.schema, value[field.name]!)]));
}

function applyPatchOf(type: string, { live, patch, call }: { live: JsonObject; patch: JsonValue; call: ResourceCall }): JsonValue {
  if (type === PATCH_TYPES.json) return jsonPatched(live, patch);
  if (type === PATCH_TYPES.merge) return applyMergePatch(live, decodeMergePatch(patch));
  return strategicPatched(live, patch, call.resource.schema);
}

function strategicPatched(live: JsonObject, patch: JsonValue, schema: ObjectSchema): JsonValue {
  try {
    return applyStrategicMergePatch(live, decodeMergePatch(patch), schema);
  } catch (error) {
    throw error instanceof StrategicPatchError ? error.toStatusError() : error;
  }
}

function jsonPatched(live: JsonObject, patch: JsonValue): JsonValue {
  try {
    return applyJsonPatch(live, decodeJsonPatch(patch).operations);
  } catch (error) {
    throw error instanceof JsonPatchError ? patchRejected(error) : error;
  }
}
