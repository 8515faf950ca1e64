import { serverResponseError } from '../errors/server-response-error.ts';
import { NO_RESOURCE, StatusError } from '../errors/status-error.ts';
import { isJsonArray, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { goValue } from '../values/go-format.ts';

/** The HTTP status of the error: 400, 422 without details, or, for most, 500 with the message. */
export type StrategicErrorKind = 'badRequest' | 'unprocessable' | 'internal';

/** An invalid strategic merge patch. */
export class StrategicPatchError extends Error {
  override readonly name = 'StrategicPatchError';

  constructor(
    message: string,
    readonly kind: StrategicErrorKind = 'internal',
  ) {
    super(message);
  }

  /** The failure that a client sees. */
  toStatusError(): StatusError {
    if (this.kind === 'badRequest') return StatusError.badRequest(this.message);
    if (this.kind === 'internal') return StatusError.from(this);
    const request = { verb: '', resource: NO_RESOURCE, name: '', retryAfterSeconds: 0, unexpected: false };
    return serverResponseError({ ...request, code: 422, serverMessage: this.message });
  }
}

export function noMergeKey(item: JsonObject, mergeKey: string): StrategicPatchError {
  return new StrategicPatchError(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`);
}

export function badArgument(expected: 'map' | 'list', actual: JsonValue | undefined): StrategicPatchError {
  return new StrategicPatchError(`expected a ${goType(expected === 'map' ? {} : [])}, but received a ${goType(actual)}`);
}

export function badDirective(directive: JsonValue | undefined, patch: JsonObject): StrategicPatchError {
  return new StrategicPatchError(`unknown patch type: ${goString(directive)} in map: ${goValue(patch)}`);
}

export function badFormat(noun: 'primitive list' | 'retainKeys' | 'setElementOrder list'): StrategicPatchError {
  return new StrategicPatchError(`invalid patch format of ${noun}`, 'badRequest');
}

/** The kinds of value that Go's decoder tells apart, as they are named in errors. */
export function goType(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (isJsonArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int64';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    case 'string':
      return 'string';
    default:
      return 'map[string]interface {}';
  }
}

// Go's %s marks non-strings.
function goString(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '%!s(<nil>)';
  return typeof value === 'object' ? goValue(value) : `%!s(${goType(value)}=${goValue(value)})`;
}
