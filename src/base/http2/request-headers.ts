import { type HeaderField, ROLE } from './hpack/header-field.ts';

/** Of fields that have one value, the first counts; values of others are joined. */
const SINGLE_VALUED: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'user-agent',
]);

/** The fields of a request that follows RFC 9113, section 8. */
export class RequestHeaders {
  constructor(
    readonly method: string,
    readonly path: string,
    /** All fields in the order in which they were sent, pseudo-header fields first. */
    readonly fields: readonly HeaderField[],
    readonly contentLength: number | undefined,
  ) {}

  /** By its name in lower case. */
  value(name: string): string | undefined {
    const { fields } = this;
    for (let i = 0; i < fields.length; i++) if (fields[i]!.name === name) return this.#joined(i);
    return undefined;
  }

  #joined(first: number): string {
    const { fields } = this;
    const { name, value } = fields[first]!;
    let joined = value;
    if (SINGLE_VALUED.has(name)) return joined;
    const separator = name === 'cookie' ? '; ' : ', ';
    for (let i = first + 1; i < fields.length; i++) if (fields[i]!.name === name) joined += separator + fields[i]!.value;
    return joined;
  }
}

const LENGTH = /^\d{1,15}$/;

/** Undefined for a malformed request. */
export function requestHeaders(fields: readonly HeaderField[]): RequestHeaders | undefined {
  let method: string | undefined;
  let path: string | undefined;
  let scheme: string | undefined;
  let authority: string | undefined;
  let contentLength: number | undefined;
  let isRegular = false;
  for (const { name, value, role } of fields) {
    const isPseudo = role >= ROLE.METHOD && role <= ROLE.PATH;
    // Pseudo-header fields come first, each once.
    if (isPseudo && isRegular) return undefined;
    isRegular ||= !isPseudo;
    if (role === ROLE.REGULAR) continue;
    if (role === ROLE.METHOD && method === undefined) method = value;
    else if (role === ROLE.PATH && path === undefined) path = value;
    else if (role === ROLE.SCHEME && scheme === undefined) scheme = value;
    else if (role === ROLE.AUTHORITY && authority === undefined) authority = value;
    else if (role === ROLE.TE && value === 'trailers') continue;
    else if (role === ROLE.CONTENT_LENGTH && LENGTH.test(value) && (contentLength ?? Number(value)) === Number(value))
      contentLength = Number(value);
    else return undefined;
    if (name === ':method' && value === '') return undefined;
  }
  if (method === undefined) return undefined;
  const isComplete = method === 'CONNECT' ? authority !== undefined : scheme !== undefined && isPath(path);
  return isComplete ? new RequestHeaders(method, path ?? '/', fields, contentLength) : undefined;
}

function isPath(path: string | undefined): boolean {
  return path !== undefined && (path.startsWith('/') || path === '*');
}

/** Whether these may follow a body: anything but pseudo-header fields. */
export function areTrailers(fields: readonly HeaderField[]): boolean {
  return fields.every(({ role }) => role === ROLE.REGULAR || role === ROLE.TE || role === ROLE.CONTENT_LENGTH);
}
