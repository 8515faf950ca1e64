import { posix as path } from 'node:path';
import { lookupTable } from '#base';
import { goJsonKind, isJsonObject, JsonSyntaxError, type JsonValue, parseJson, StatusError } from '#machinery';

/** The revision of the list, and the key of the next page. */
export interface ContinueToken {
  readonly revision: number;
  /** Relative to the list's prefix. */
  readonly start: string;
}

const VERSION = 'meta.k8s.io/v1';

export function encodeContinue({ revision, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start })).toString('base64url');
}

export function decodeContinue(text: string): ContinueToken {
  const { v, rv, start } = parse(text);
  if (v !== VERSION) throw invalid(`server does not recognize this encoded version ${v}`);
  if (rv === 0) throw invalid(`incorrect encoded start resourceVersion (version ${VERSION})`);
  if (start === '') throw invalid(`encoded start key empty (version ${VERSION})`);
  if (!isClean(start)) throw invalid(start);
  return { revision: rv, start: start.startsWith('/') ? start.slice(1) : start };
}

/** The key must stay below the list's prefix. */
function isClean(start: string): boolean {
  const key = start.startsWith('/') ? start : `/${start}`;
  return path.normalize(key) === key && (key === '/' || !key.endsWith('/'));
}

const TOKEN = new Map([
  ['v', 'string'],
  ['rv', 'number'],
  ['start', 'string'],
]);
const GO_TYPES = lookupTable<string>({ string: 'string', number: 'int64' });

function parse(text: string): { v: string; rv: number; start: string } {
  const token = { v: '', rv: 0, start: '' };
  const value = parsed(decodeBase64(text));
  if (value === null) return token;
  if (!isJsonObject(value)) throw invalid(`json: cannot unmarshal ${goJsonKind(value)} into Go value of type storage.continueToken`);
  for (const [name, type] of TOKEN) {
    const member = value[name] ?? null;
    if (member === null) continue;
    if (typeof member !== type) {
      const problem = `json: cannot unmarshal ${goJsonKind(member)} into Go struct field continueToken.${name} of type ${GO_TYPES[type]}`;
      throw invalid(problem);
    }
    Object.assign(token, { [name]: member });
  }
  return token;
}

function parsed(bytes: Buffer): JsonValue {
  try {
    return parseJson(bytes).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw invalid(error.message);
  }
}

/** Unpadded base64url. Errors name the offending byte. */
function decodeBase64(text: string): Buffer {
  const at = text.search(/[^A-Za-z0-9_-]/);
  if (at >= 0) throw invalid(`illegal base64 data at input byte ${at}`);
  if (text.length % 4 === 1) throw invalid(`illegal base64 data at input byte ${text.length - 1}`);
  return Buffer.from(text, 'base64url');
}

function invalid(detail: string): StatusError {
  return StatusError.badRequest(`invalid continue token: continue key is not valid: ${detail}`);
}
