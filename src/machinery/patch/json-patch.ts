import { serverResponseError } from '../errors/server-response-error.ts';
import { NO_RESOURCE, StatusError } from '../errors/status-error.ts';
import { encodeJson } from '../json/encode-json.ts';
import { MAX_JSON_DEPTH } from '../json/exact-json-parser.ts';
import { isDeeperThan } from '../json/is-deeper-than.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { JsonDocument } from './json-document.ts';
import { goJsonKind } from './json-kind.ts';
import { JsonPatchError, JsonPatchTestError } from './json-patch-error.ts';
import { sameJson } from './same-json.ts';

/** An operation of RFC 6902. Members of the wrong type were refused by `decodeJsonPatch`. */
export interface JsonPatchOperation {
  readonly op?: string;
  readonly path?: string;
  readonly from?: string;
  readonly value?: JsonValue;
}

const MAX_OPERATIONS = 10_000;
/** How much larger copies may make a document: without a limit, a few operations could double it again and again. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

export interface DecodedJsonPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** Members that no operation has, for strict validation: `json patch unknown field "[0].x"`. */
  readonly unknownFields: readonly string[];
}

export interface JsonPatchOptions {
  /** For clients with field validation `Ignore`: an operation is validated only when it is applied. */
  readonly lenient?: boolean;
}

/** Reads a decoded JSON value as a patch. Throws the StatusError that a server answers for anything else. */
export function decodeJsonPatch(value: JsonValue, { lenient = false }: JsonPatchOptions = {}): DecodedJsonPatch {
  if (value === null) return { operations: [], unknownFields: [] };
  if (!isJsonArray(value)) throw lenient ? notA('jsonpatch.Patch', value) : undecodable(notA('[]handlers.jsonPatchOp', value));
  if (value.length > MAX_OPERATIONS) {
    throw StatusError.requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`);
  }
  if (lenient) return { operations: value.map(lenientOperation), unknownFields: [] };
  const operations = value.map(decodeOperation);
  return { operations, unknownFields: operations.flatMap(unknownFieldsOf) };
}

function notA(type: string, value: JsonValue): StatusError {
  return StatusError.badRequest(`json: cannot unmarshal ${goJsonKind(value)} into Go value of type ${type}`);
}

function lenientOperation(value: JsonValue): JsonPatchOperation {
  if (value === null) return {};
  if (!isJsonObject(value)) throw notA('jsonpatch.Operation', value);
  return value as JsonPatchOperation;
}

function decodeOperation(value: JsonValue): JsonPatchOperation {
  if (value === null) return {};
  if (!isJsonObject(value)) throw undecodable(notA('handlers.jsonPatchOp', value));
  for (const key of ['op', 'path', 'from']) {
    const member = Object.hasOwn(value, key) ? value[key] : undefined;
    if (member === undefined || member === null || typeof member === 'string') continue;
    const kind = goJsonKind(member);
    throw StatusError.badRequest(`${DECODING}json: cannot unmarshal ${kind} into Go struct field jsonPatchOp.${key} of type string`);
  }
  return value as JsonPatchOperation;
}

function unknownFieldsOf(operation: JsonPatchOperation, index: number): string[] {
  const unknown = Object.keys(operation).filter((key) => !['op', 'path', 'from', 'value'].includes(key));
  return unknown.map((key) => `json patch unknown field "[${index}].${key}"`);
}

const DECODING = 'error decoding patch: ';

function undecodable({ message }: StatusError): StatusError {
  return StatusError.badRequest(`${DECODING}${message}`);
}

/** The server's response for every patch that does not apply. */
export function patchRejected(error: JsonPatchError): StatusError {
  const request = { verb: '', resource: NO_RESOURCE, name: '', retryAfterSeconds: 0, unexpected: false };
  return serverResponseError({ ...request, code: 422, serverMessage: error.message });
}

/**
 * Applies a patch: all operations or none. The document is not changed; the result shares untouched parts. More lenient than RFC 6902, as upstream's
 * library: `replace` adds a missing key, a negative index counts from the end, a missing value is null, `test` treats a missing key as null, and text
 * before a path's first slash is ignored. Throws JsonPatchError.
 */
export function applyJsonPatch(document: JsonValue, operations: readonly JsonPatchOperation[]): JsonValue {
  const target = new JsonDocument(document);
  let copied = 0;
  for (const operation of operations) copied = applyOperation(target, operation, copied);
  // Other patches are no deeper than their text; JSON patch operations can nest one deep value in another.
  if (isDeeperThan(target.value, MAX_JSON_DEPTH)) throw new JsonPatchError('exceeded max depth');
  return target.value;
}

function applyOperation(target: JsonDocument, operation: JsonPatchOperation, copied: number): number {
  const value = operation.value ?? null;
  switch (operation.op) {
    case 'add':
      target.add(pathOf(operation), value);
      return copied;
    case 'remove':
      target.remove(pathOf(operation));
      return copied;
    case 'replace':
      replace(target, pathOf(operation), value);
      return copied;
    case 'move':
      move(target, operation);
      return copied;
    case 'copy':
      return copy(target, operation, copied);
    case 'test':
      test(target, pathOf(operation), value);
      return copied;
    default:
      throw new JsonPatchError(`Unexpected kind: ${operation.op ?? 'unknown'}`);
  }
}

function pathOf({ op, path }: JsonPatchOperation): string {
  if (typeof path !== 'string') throw new JsonPatchError(`${op} operation failed to decode path: missing value`);
  return path;
}

function fromOf({ op, from }: JsonPatchOperation): string {
  if (typeof from !== 'string')
    throw new JsonPatchError(`${op} operation failed to decode from: operation, missing from field: missing value`);
  return from;
}

function replace(target: JsonDocument, path: string, value: JsonValue): void {
  if (path !== '') target.set(path, value);
  else if (typeof value === 'object' && value !== null) target.replaceAll(value);
  else throw new JsonPatchError('replace operation value must be object or array');
}

function move(target: JsonDocument, operation: JsonPatchOperation): void {
  const from = fromOf(operation);
  const value = target.get(from);
  target.remove(from);
  target.add(pathOf(operation), value ?? null);
}

function copy(target: JsonDocument, operation: JsonPatchOperation, copied: number): number {
  const value = target.get(fromOf(operation)) ?? null;
  target.release(value);
  const total = copied + Buffer.byteLength(encodeJson(value));
  if (total > MAX_COPIED_BYTES) {
    const detail = `the accumulated size increase of copy is ${total}, exceeding the limit ${MAX_COPIED_BYTES}`;
    throw new JsonPatchError(`Unable to complete the copy, ${detail}`);
  }
  target.add(pathOf(operation), value);
  return total;
}

function test(target: JsonDocument, path: string, expected: JsonValue): void {
  const actual = path === '' ? target.value : (target.get(path) ?? null);
  target.release(actual);
  if (!sameJson(actual, expected)) throw new JsonPatchTestError(`testing value ${path} failed: test failed`);
}
