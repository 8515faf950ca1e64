import { type MaybePromise, mapMaybePromise, TurnBudget } from '#base';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  compareBytes,
  type DecodedObject,
  decodeJsonPatch,
  decodeMergePatch,
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
  StatusError,
  StrategicPatchError,
  strictDecodingError,
  type WrittenMembers,
  withoutNulls,
  writtenAfterMerge,
} from '#machinery';
import { STEP_MS } from '../registry/generic/object-write.ts';
import { updateObject } from '../registry/generic/update-object.ts';
import { duplicateProblems } from '../request/parse-body.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { ApiResponse } from './api-response.ts';
import { applyObject } from './apply.ts';
import { BODY_LIMIT, decodeBounded, type ExpectedKind, namingError, notRegistered, reportProblems, withReset } from './decode-body.ts';
import { trackFieldOwnership } from './field-ownership.ts';
import { objectWrite } from './object-write.ts';
import { asPrinted } from './patched-text.ts';
import type { HandlerDeps, ResourceCall } from './resource-call.ts';
import { withRequestIdentity } from './update.ts';
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
  const { object } = await updateObject(objectWrite(call), {
    options,
    compute: (live) =>
      mapMaybePromise(patched(call, { live, readPatch, type, options }), (updated) =>
        trackFieldOwnership(call, { live, updated, options }),
      ),
  });
  return { type: 'object', code: 200, resource, object };
}

export function patchTypeOf({ request, resource }: ResourceCall): string {
  // Upstream compares the content type of a patch exactly.
  const type = (request.body.contentType.split(';', 1)[0] ?? '').trim();
  const supported = resource.custom
    ? [PATCH_TYPES.json, PATCH_TYPES.merge, PATCH_TYPES.apply]
    : [PATCH_TYPES.json, PATCH_TYPES.merge, PATCH_TYPES.strategic, PATCH_TYPES.apply];
  if ((supported as readonly string[]).includes(type)) return type;
  // Custom resources have no router before the handler, so its message reaches the client.
  if (resource.custom) throw StatusError.unsupportedMediaType(supported);
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

/** The patch, decoded lazily: a missing object is 404 whatever the body. */
export async function patchBody({ request }: ResourceCall, kind: PatchKind): Promise<() => ParsedDocument> {
  const { body, audit } = request;
  if (body.type === 'object') {
    const document: ParsedDocument = { value: body.value as JsonValue, duplicates: [] };
    audit?.record?.setRequestObject(document.value);
    return () => document;
  }
  const bytes = await body.read(BODY_LIMIT);
  let document: ParsedDocument | undefined;
  return () => {
    document ??= parsePatch(bytes, kind);
    audit?.record?.setRequestObject(document.value);
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

/** With fieldValidation=Ignore upstream parses the patch once, so that the library's message is returned. */
function unreadablePatch({ message }: JsonSyntaxError, { type, options }: PatchKind): string {
  if (type === PATCH_TYPES.strategic) return message;
  if (options.fieldValidation !== 'Ignore') return `error decoding patch: ${message}`;
  return type === PATCH_TYPES.merge ? INVALID_MERGE_PATCH : message;
}

interface PatchRequest extends PatchKind {
  readonly live: KubeObject;
  readonly readPatch: () => ParsedDocument;
}

/** The patched object, with defaults. A large one is parsed, patched, decoded and defaulted in several turns. */
function patched(call: ResourceCall, { live, readPatch, type, options }: PatchRequest): MaybePromise<KubeObject> {
  const { resource } = call;
  const turn = new TurnBudget(call.deps.clock, STEP_MS);
  const inTurn = <T, R>(value: MaybePromise<T>, step: (value: T) => R) => mapMaybePromise(value, (input) => turn.resumeWith(step(input)));
  const patching = (patch: ParsedDocument): TypedPatchRequest => ({ live, patch, type, options, expected: resource });
  const merged = inTurn(turn.resumeWith(patching(readPatch())), (request) => ({ request, value: patchedValue(request) }));
  const decoded = inTurn(merged, ({ request, value }) => {
    call.request.document = value;
    return withReset(decodePatched(call, request, value) as unknown as KubeObject, value);
  });
  return inTurn(decoded, (object) => {
    const placed = withRequestIdentity(object, call);
    return resource.strategy.defaults?.(placed) ?? placed;
  });
}

/** A patched object of another kind than the resource's own, such as its scale. */
export function applyPatchAs<T>(call: ResourceCall, patching: TypedPatchRequest): T {
  return decodePatched(call, patching, patchedValue(patching)) as T;
}

interface TypedPatchRequest extends PatchKind {
  readonly live: object;
  readonly patch: ParsedDocument;
  readonly expected: ExpectedKind;
}

function patchedValue({ live, patch, type, options, expected }: TypedPatchRequest): JsonValue {
  const lenient = options.fieldValidation === 'Ignore';
  return applyPatchOf(type, { live: live as JsonObject, patch: patch.value, schema: expected.schema, lenient });
}

function decodePatched(call: ResourceCall, { live, patch, type, options, expected }: TypedPatchRequest, value: JsonValue): JsonObject {
  const before = live as JsonObject;
  const lenient = options.fieldValidation === 'Ignore';
  const written = type === PATCH_TYPES.merge ? writtenAfterMerge(patch, value) : undefined;
  const read = type === PATCH_TYPES.strategic ? restored : decodeAsNamed;
  const { object, error, problems } = read(call.deps, expected, { value, before, written });
  // Upstream decodes the text that errors quote.
  const reread = () => read(call.deps, expected, { value: printed(expected, { value, before }), before });
  const ordered = problems.length > 1 && type !== PATCH_TYPES.strategic && !lenient ? reread().problems : problems;
  const allProblems = lenient ? [] : [...patchProblems(type, patch), ...ordered];
  const isRejected = allProblems.length > 0 && options.fieldValidation === 'Strict';
  const unconverted = error === undefined ? expected.conversionError?.(object) : undefined;
  const detail =
    error ?? (type === PATCH_TYPES.strategic ? undefined : unconverted) ?? (isRejected ? strictDecodingError(allProblems) : undefined);
  if (detail !== undefined)
    throw type === PATCH_TYPES.strategic ? invalidPatch(patch, before, detail) : invalidResult(expected, { value, before }, detail);
  // Upstream returns 500 if the result of a strategic patch cannot be converted.
  if (unconverted !== undefined) throw new Error(unconverted);
  reportProblems({ request: call.request, expected, validation: options.fieldValidation }, allProblems);
  return object;
}

function patchProblems(type: string, { value, duplicates }: ParsedDocument): readonly string[] {
  const repeated = duplicateProblems(duplicates);
  if (type !== PATCH_TYPES.json) return repeated;
  return [...repeated.map((problem) => `json patch ${problem}`), ...decodeJsonPatch(value).unknownFields];
}

/** A patch must not change the kind, but the result is decoded as the kind it states. */
function decodeAsNamed(deps: HandlerDeps, expected: ExpectedKind, { value, before, written }: PatchResult): DecodedObject {
  const error = namingError(value);
  if (error !== undefined || !isJsonObject(value)) return { object: {}, ...(error !== undefined && { error }), problems: [] };
  const kind = String(value.kind || expected.kind);
  const apiVersion = String(value.apiVersion || expected.apiVersion);
  if (apiVersion !== expected.apiVersion && expected.custom) return { object: {}, error: invalidVersion(apiVersion), problems: [] };
  // Custom resources decode as any kind; validation then reports the wrong one.
  if (kind !== expected.kind && expected.custom)
    return expected.decode?.(value) ?? decodeBounded(expected.schema, value, { existing: before, written });
  if (kind !== expected.kind || apiVersion !== expected.apiVersion) return readAsOther(deps, expected, { value, kind, apiVersion });
  const complete = withKind(value, expected);
  return expected.decode?.(complete) ?? decodeBounded(expected.schema, complete, { existing: before, written });
}

function invalidVersion(apiVersion: string): string {
  return `request to convert CR from an invalid group/version: ${apiVersion}`;
}

interface OtherKind {
  readonly value: JsonObject;
  readonly kind: string;
  readonly apiVersion: string;
}

function readAsOther(deps: HandlerDeps, expected: ExpectedKind, { value, kind, apiVersion }: OtherKind): DecodedObject {
  const { group, version } = parseGroupVersion(apiVersion);
  const other = deps.table.findKind(group, version, kind);
  const read = other && decodeBounded(other.schema, value);
  const error = read === undefined ? notRegistered(kind, apiVersion) : (read.error ?? `unable to convert to ${expected.kind}`);
  return { object: {}, error, problems: [] };
}

/** The result of a strategic patch is never parsed as text: it keeps its kind, and errors have their own wording. */
function restored(_deps: HandlerDeps, expected: ExpectedKind, { value, before }: PatchResult): DecodedObject {
  const { kind, apiVersion, schema } = expected;
  const complete = isJsonObject(value) ? { ...value, kind, apiVersion } : value;
  const decoded = expected.decode?.(complete) ?? decodeBounded(schema, complete, { existing: before });
  const error = restoreNameError(value) ?? (decoded.error && (restoreError(schema, value) ?? decoded.error));
  return { object: decoded.object, ...(error !== undefined && { error }), problems: [...decoded.problems].sort(compareBytes) };
}

/** The kind stays if a patch removes it. */
function withKind(value: JsonObject, { kind, apiVersion }: { kind: string; apiVersion: string }): JsonObject {
  return value.kind && value.apiVersion ? value : { ...value, kind, apiVersion };
}

interface PatchResult {
  readonly value: JsonValue;
  readonly before: JsonObject;
  readonly written?: WrittenMembers | undefined;
}

/** Custom resources have no order of definition. */
function printed({ custom, schema }: ExpectedKind, { value, before }: PatchResult): JsonValue {
  return asPrinted({ schema: custom ? undefined : schema, value, before });
}

function invalidResult(expected: ExpectedKind, result: PatchResult, detail: string): StatusError {
  const text = encodeJson(printed(expected, result));
  return StatusError.invalid({ group: '', kind: '' }, '', [FieldError.invalid(Path.of('patch'), text, detail)]);
}

/** Errors quote a strategic patch as merging leaves it. */
function invalidPatch({ value }: ParsedDocument, before: JsonObject, detail: string): StatusError {
  return StatusError.invalid({ group: '', kind: '' }, '', [
    FieldError.invalid(Path.of('patch'), goValue(mergedResult(value, before)), detail),
  ]);
}

/** Nulls delete; where there was nothing to delete, merging drops them from the patch. */
function mergedResult(patch: JsonValue, before: JsonValue | undefined): JsonValue {
  if (!isJsonObject(patch) || !isJsonObject(before)) return isJsonObject(patch) ? withoutNulls(patch) : patch;
  return Object.fromEntries(Object.entries(patch).map(([key, member]) => [key, member && mergedResult(member, getKey(before, key))]));
}

interface PatchInput {
  readonly live: JsonObject;
  readonly patch: JsonValue;
  readonly schema: ObjectSchema;
  /** Without field validation upstream decodes more leniently. */
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

/** A null patch changes nothing. */
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
