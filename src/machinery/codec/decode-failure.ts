import { StatusError } from '../errors/status-error.ts';
import type { GroupVersionKind } from '../schema.ts';
import { goQuote } from '../values/go-format.ts';

/** The failure of a request whose body names a kind but cannot be read as the one expected there. */
export function cannotBeHandledError(named: GroupVersionKind, expectedKind: string, detail: string): StatusError {
  return StatusError.badRequest(`${named.kind} in version ${goQuote(named.version)} cannot be handled as a ${expectedKind}: ${detail}`);
}

/** The failure of a request whose body is not even an object with a kind. `body` is quoted in part: as text, or in hex when it is no object. */
export function unrecognizedObject(expectedKind: string, detail: string, body: Uint8Array): StatusError {
  return StatusError.badRequest(`the object provided is unrecognized (must be of type ${expectedKind}): ${detail} (${summarize(body)})`);
}

/** What `fieldValidation=Strict` answers, given the problems of a decoded object. */
export function strictDecodingError(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(', ')}`;
}

const SUMMARY_LENGTH = 30;

function summarize(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.length === 0) return '<empty>';
  const ellipsis = bytes.length > SUMMARY_LENGTH ? ' ...' : '';
  const encoding = bytes[0] === 0x7b ? 'utf8' : 'hex';
  return bytes.toString(encoding, 0, SUMMARY_LENGTH) + ellipsis;
}
