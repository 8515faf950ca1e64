import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  compareBytes,
  type DecodedObject,
  decodeJsonPatch,
  decodeMergePatch,
  decodeObject,
  encodeJson,
  FieldError,
  getKey,
  goJsonKind,
  goValue,
  INVALID_MERGE_PATCH,
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
  restoreError,
  restoreNameError,
  type Schema,
  StatusError,
  StrategicPatchError,
  strictDecodingError,
  type WrittenMembers,
  withoutNulls,
  writtenAfterMerge,
} from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { duplicateProblems } from '../request/parse-body.ts';
import { applyObject } from './apply.ts';
import { BODY_LIMIT, type ExpectedKind, namingError, notRegistered, reportProblems, withReset } from './decode-body.ts';
import { ownFields } from './field-ownership.ts';
import type { HandlerDeps, ResourceCall } from './resource-call.ts';
import { identified } from './update.ts';
import { updateObject } from './update-object.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

export const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export async function handlePatch(call: ResourceCall): Promise<ApiResponse> {
  const { resource, request } = call;
  const type = patchTypeOf(call);
  const options = writeOptions(request, 'PatchOptions', patchTypeErrors(request.query, type));
  if (type === PATCH_TYPES.apply) return applyObject(call, options);
  const readPatch = await patchBody(call, { type, options });
  const { object } = await updateObject(call, {
    options,
    compute: (live) => ownFields(call, { live, updated: patched(call, { live, patch: readPatch(), type, options }), options }),
  });
  return { type: 'object', code: 200, resource, object };
}

export function patchTypeOf({ request, resource }: ResourceCall): string {
  // Unlike elsewhere, upstream compares the type of a patch to the letter.
  const type = (request.body.contentType.split(';', 1)[0] ?? '').trim();
  const supported = resource.custom
    ? [PATCH_TYPES.json, PATCH_TYPES.merge, PATCH_TYPES.apply]
    : [PATCH_TYPES.json, PATCH_TYPES.merge, PATCH_TYPES.strategic, PATCH_TYPES.apply];
  if ((supported as readonly string[]).includes(type)) return type;
  throw new StatusError({ code: 415, reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type', details: {} });
}

export function patchTypeErrors(query: URLSearchParams, type: string): readonly FieldError[] {
  if (type !== PATCH_TYPES.apply)
    return query.has('force') ? [FieldError.forbidden(Path.of('force'), 'may not be specified for non-apply patch')] : [];
  return query.get('fieldManager') ? [] : [FieldError.required(Path.of('fieldManager'), 'is required for apply patch')];
}

interface PatchKind {
  readonly type: string;
  readonly options: WriteOptions;
}

/** The body of a patch, to be read once there is an object to patch: nobody looks at what was sent for one that is missing. */
export async function patchBody({ request: { body } }: ResourceCall, kind: PatchKind): Promise<() => ParsedDocument> {
  if (body.type === 'object') {
    const document: ParsedDocument = { value: body.value as JsonValue, duplicates: [] };
    return () => document;
  }
  const bytes = await body.read(BODY_LIMIT);
  let document: ParsedDocument | undefined;
  return () => {
    document ??= parsePatch(bytes, kind);
    return document;
  };
}

function parsePatch(bytes: Buffer, kind: PatchKind): ParsedDocument {
  try {
    return parseJson(bytes);
  } catch (error) {
    throw error instanceof JsonSyntaxError ? StatusError.badRequest(unreadablePatch(error, kind)) : error;
  }
}

/** Upstream reads patches twice, but only once for those who ask it to ignore what is odd about them: then the library's own words reach them. */
function unreadablePatch({ message }: JsonSyntaxError, { type, options }: PatchKind): string {
  if (type === PATCH_TYPES.strategic) return message;
  if (options.fieldValidation !== 'Ignore') return `error decoding patch: ${message}`;
  return type === PATCH_TYPES.merge ? INVALID_MERGE_PATCH : message;
}

interface Patching {
  readonly live: KubeObject;
  readonly patch: ParsedDocument;
  readonly type: string;
  readonly options: WriteOptions;
}

function patched(call: ResourceCall, patching: Patching): KubeObject {
  const { resource } = call;
  const { object, value } = patchedDocument(call, { ...patching, expected: resource });
  const decoded = identified(withReset(object as unknown as KubeObject, value), call);
  return resource.strategy.defaults?.(decoded) ?? decoded;
}

/** A patched object of another kind than the resource's own, such as its scale. */
export function patchedAs<T>(call: ResourceCall, patching: PatchingAs): T {
  return patchedDocument(call, patching).object as T;
}

interface PatchingAs extends Omit<Patching, 'live'> {
  readonly live: object;
  readonly expected: ExpectedKind;
}

function patchedDocument(
  call: ResourceCall,
  { live, patch, type, options, expected }: PatchingAs,
): { object: JsonObject; value: JsonValue } {
  const before = live as JsonObject;
  const lenient = options.fieldValidation === 'Ignore';
  const value = applyPatchOf(type, { live: before, patch: patch.value, schema: expected.schema, lenient });
  const written = type === PATCH_TYPES.merge ? writtenAfterMerge(patch, value) : undefined;
  const read = type === PATCH_TYPES.strategic ? restored : decodeAsNamed;
  const { object, error, problems } = read(call.deps, expected, { value, before, written });
  const found = lenient ? [] : [...patchProblems(type, patch), ...problems];
  const isRefused = found.length > 0 && options.fieldValidation === 'Strict';
  const unconverted = error === undefined ? expected.conversionError?.(object) : undefined;
  const why = error ?? (type === PATCH_TYPES.strategic ? undefined : unconverted) ?? (isRefused ? strictDecodingError(found) : undefined);
  if (why !== undefined)
    throw type === PATCH_TYPES.strategic ? invalidPatch(patch, before, why) : invalidResult(expected.schema, { value, before }, why);
  // Upstream turns the result of a strategic patch into its own form outside of what it takes for the client's fault.
  if (unconverted !== undefined) throw new Error(unconverted);
  reportProblems({ request: call.request, expected, validation: options.fieldValidation }, found);
  return { object, value };
}

function patchProblems(type: string, { value, duplicates }: ParsedDocument): readonly string[] {
  const repeated = duplicateProblems(duplicates);
  if (type !== PATCH_TYPES.json) return repeated;
  return [...repeated.map((problem) => `json patch ${problem}`), ...decodeJsonPatch(value).unknownFields];
}

/** A patch may not turn an object into another kind, but what it says it is decides how it is read. */
function decodeAsNamed(deps: HandlerDeps, expected: ExpectedKind, { value, before, written }: PatchResult): DecodedObject {
  const error = namingError(value);
  if (error !== undefined || !isJsonObject(value)) return { object: {}, ...(error !== undefined && { error }), problems: [] };
  const kind = String(value.kind || expected.kind);
  const apiVersion = String(value.apiVersion || expected.apiVersion);
  if (kind !== expected.kind || apiVersion !== expected.apiVersion) return readAsOther(deps, expected, { value, kind, apiVersion });
  const whole = named(value, expected);
  return expected.decode?.(whole) ?? decodeObject(expected.schema, whole, { known: before, written });
}

interface OtherKind {
  readonly value: JsonObject;
  readonly kind: string;
  readonly apiVersion: string;
}

function readAsOther(deps: HandlerDeps, expected: ExpectedKind, { value, kind, apiVersion }: OtherKind): DecodedObject {
  const { group, version } = parseGroupVersion(apiVersion);
  const other = deps.table.findKind(group, version, kind);
  const read = other && decodeObject(other.schema, value);
  const error = read === undefined ? notRegistered(kind, apiVersion) : (read.error ?? `unable to convert to ${expected.kind}`);
  return { object: {}, error, problems: [] };
}

/** The result of a strategic patch is never text: its kind stays what it is whatever the patch says, and its errors have words of their own. */
function restored(_deps: HandlerDeps, expected: ExpectedKind, { value, before }: PatchResult): DecodedObject {
  const { kind, apiVersion, schema } = expected;
  const whole = isJsonObject(value) ? { ...value, kind, apiVersion } : value;
  const decoded = expected.decode?.(whole) ?? decodeObject(schema, whole, { known: before });
  const error = restoreNameError(value) ?? (decoded.error && (restoreError(schema, value) ?? decoded.error));
  return { object: decoded.object, ...(error !== undefined && { error }), problems: [...decoded.problems].sort(compareBytes) };
}

/** A patch may take an object's kind away; it stays what it is. */
function named(value: JsonObject, { kind, apiVersion }: { kind: string; apiVersion: string }): JsonObject {
  return value.kind && value.apiVersion ? value : { ...value, kind, apiVersion };
}

interface PatchResult {
  readonly value: JsonValue;
  readonly before: JsonObject;
  readonly written?: WrittenMembers | undefined;
}

function invalidResult(schema: ObjectSchema, result: PatchResult, why: string): StatusError {
  const text = encodeJson(asPrinted(schema, result.value, result.before));
  return StatusError.invalid({ group: '', kind: '' }, '', [FieldError.invalid(Path.of('patch'), text, why)]);
}

/** What is printed of a strategic patch is the patch itself, as merging leaves it. */
function invalidPatch({ value }: ParsedDocument, before: JsonObject, why: string): StatusError {
  return StatusError.invalid({ group: '', kind: '' }, '', [FieldError.invalid(Path.of('patch'), goValue(asMerged(value, before)), why)]);
}

/** Nulls delete what is there; where there was nothing of their kind, merging has dropped them from the patch. */
function asMerged(patch: JsonValue, before: JsonValue | undefined): JsonValue {
  if (!isJsonObject(patch) || !isJsonObject(before)) return isJsonObject(patch) ? withoutNulls(patch) : patch;
  return Object.fromEntries(Object.entries(patch).map(([key, member]) => [key, member && asMerged(member, getKey(before, key))]));
}

/**
 * As upstream prints a patched document: what the patch went through has its members by name, what it left alone has them in the order of
 * their definition. Patches share what they do not touch, so identity tells.
 */
function asPrinted(schema: Schema | undefined, value: JsonValue, before: JsonValue | undefined): JsonValue {
  if (!isJsonObject(value)) return value;
  if (value === before && schema !== undefined) return inSchemaOrder(schema, value);
  const old = isJsonObject(before) ? before : {};
  const fields = schema?.type === 'object' ? schema.fieldsByName : undefined;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, asPrinted(fields?.get(key)?.schema, value[key]!, getKey(old, key))]));
}

function inSchemaOrder(schema: Schema, value: JsonValue): JsonValue {
  if (schema.type === 'list' && isJsonArray(value)) return value.map((item) => inSchemaOrder(schema.items, item));
  if (schema.type !== 'object' || !isJsonObject(value)) return value;
  const known = schema.fields.filter(({ name }) => Object.hasOwn(value, name));
  return Object.fromEntries(known.map((field) => [field.name, inSchemaOrder(field.schema, value[field.name]!)]));
}

interface PatchInput {
  readonly live: JsonObject;
  readonly patch: JsonValue;
  readonly schema: ObjectSchema;
  /** Without looking for what is odd about the patch, upstream reads it more generously. */
  readonly lenient: boolean;
}

function applyPatchOf(type: string, { live, patch, schema, lenient }: PatchInput): JsonValue {
  if (type === PATCH_TYPES.json) return jsonPatched(live, patch, lenient);
  if (type === PATCH_TYPES.strategic) return strategicPatched(live, patch, schema);
  // A list in place of a merge patch is the whole result.
  if (lenient && isJsonArray(patch)) return withoutNulls(patch);
  return applyMergePatch(live, decodeMergePatch(patch, { lenient }));
}

function strategicPatched(live: JsonObject, patch: JsonValue, schema: ObjectSchema): JsonValue {
  try {
    return applyStrategicMergePatch(live, decodeStrategicPatch(patch), schema);
  } catch (error) {
    throw error instanceof StrategicPatchError ? error.toStatusError() : error;
  }
}

/** A null patches nothing. */
function decodeStrategicPatch(patch: JsonValue): JsonObject {
  if (patch === null) return {};
  if (isJsonObject(patch)) return patch;
  throw StatusError.badRequest(`json: cannot unmarshal ${goJsonKind(patch)} into Go value of type map[string]interface {}`);
}

function jsonPatched(live: JsonObject, patch: JsonValue, lenient: boolean): JsonValue {
  try {
    return applyJsonPatch(live, decodeJsonPatch(patch, { lenient }).operations);
  } catch (error) {
    throw error instanceof JsonPatchError ? patchRejected(error) : error;
  }
}
