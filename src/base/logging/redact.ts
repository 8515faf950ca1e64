import type { LogFields } from './log-record.ts';

export const REDACTED = '[redacted]';

/** Suffixes of secret field names: `client-secret` is one, `secretName` is not. */
const SECRET_NAME =
  /(?:pass[-_ .]?(?:word|wd|phrase)|secret|token|authorization|(?:private|api)[-_ .]?key|key[-_ .]?data|cookie|credentials)$/i;
/** Most text contains none of these and needs no scan. */
const MAYBE_SECRET = /PRIVATE KEY|Bearer|Basic|eyJ|:\/\//;
const TOKEN_OF_KIND = /\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]{6,}/g;
const JWT_CHARACTERS = /[A-Za-z0-9_.-]+/g;
const MAX_DEPTH = 8;
/** The length limits of one text, list or object in a log line, since they may contain external input. */
const MAX_TEXT = 16_384;
const MAX_ITEMS = 100;

/** Redacts bearer tokens, JWTs, private keys, and passwords in URLs. */
export function redactText(text: string): string {
  if (!MAYBE_SECRET.test(text)) return text;
  const plain = withoutPrivateKeys(text).replace(TOKEN_OF_KIND, `$1 ${REDACTED}`).replace(JWT_CHARACTERS, withoutJwts);
  return withoutUrlPasswords(plain);
}

const BEGIN = '-----BEGIN ';
const KEY_LABEL = /^([A-Z ]{0,40}PRIVATE KEY)-----/;

/** A truncated key is redacted to the end of the text. */
function withoutPrivateKeys(text: string): string {
  const parts: string[] = [];
  let start = 0;
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, Math.max(start, at + 1))) {
    const label = KEY_LABEL.exec(text.slice(at + BEGIN.length, at + BEGIN.length + 64))?.[1];
    if (label === undefined) continue;
    const last = `-----END ${label}-----`;
    const end = text.indexOf(last, at);
    parts.push(text.slice(start, at), REDACTED);
    if (end < 0) return parts.join('');
    start = end + last.length;
  }
  return parts.join('') + text.slice(start);
}

/** Truncated if it is long; somewhat more is searched, so that a secret at the end is found whole. */
function shortText(text: string): string {
  if (text.length <= MAX_TEXT) return redactText(text);
  return `${redactText(text.slice(0, 2 * MAX_TEXT)).slice(0, MAX_TEXT)}… (${text.length} characters)`;
}

/** `run` consists of characters of JWTs, and may contain several, or other words. */
function withoutJwts(run: string): string {
  if (!run.includes('.eyJ')) return run;
  const segments = run.split('.');
  const result: string[] = [];
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i]!;
    const start = segment.search(/\beyJ[A-Za-z0-9_-]/);
    const claims = segments[i + 1] ?? '';
    const isJwt = start >= 0 && claims.startsWith('eyJ') && claims.length > 3 && segments[i + 2] !== undefined;
    result.push(isJwt ? segment.slice(0, start) + REDACTED : segment);
    if (isJwt) i += 2;
  }
  return result.join('.');
}

const SCHEME_END = /[a-z0-9+.-]/i;

function withoutUrlPasswords(text: string): string {
  const parts: string[] = [];
  let start = 0;
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    if (!SCHEME_END.test(text[at - 1] ?? '')) continue;
    const password = passwordIn(text, at + 3);
    if (password === undefined) continue;
    parts.push(text.slice(start, password.start), REDACTED);
    start = password.end;
  }
  return parts.join('') + text.slice(start);
}

/** `user:password@` after the scheme. */
function passwordIn(text: string, start: number): { readonly start: number; readonly end: number } | undefined {
  let colon = -1;
  for (let i = start; i < text.length; i++) {
    const char = text[i]!;
    if (char === '@') return colon >= 0 && i > colon + 1 ? { start: colon + 1, end: i } : undefined;
    if (char === '/' || /\s/.test(char)) return undefined;
    if (char === ':' && colon < 0) colon = i;
  }
  return undefined;
}

/** The fields as plain JSON values without secrets: values of secret names, a Secret's data, and tokens in text. */
export function redactFields(fields: LogFields): LogFields {
  return redactRecord(fields, { secretNames: NO_NAMES, depth: 0 });
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** As `redactFields`, with additional secret names. */
export function fieldRedactor(names: readonly string[]): (fields: LogFields) => LogFields {
  const context = { secretNames: new Set(names.map(plainName)), depth: 0 };
  return (fields) => redactRecord(fields, context);
}

interface Context {
  secretNames: ReadonlySet<string>;
  depth: number;
}

function redactRecord(record: Readonly<Record<string, unknown>>, context: Context): Record<string, unknown> {
  const inSecret = record.kind === 'Secret';
  const result: Record<string, unknown> = {};
  let count = 0;
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue;
    if (++count > MAX_ITEMS) return { ...result, '…': 'and more' };
    const hide = isSecretName(name, context.secretNames) || (inSecret && (name === 'data' || name === 'stringData'));
    result[name] = hide ? REDACTED : redactValue(value, context);
  }
  return result;
}

function redactValue(value: unknown, context: Context): unknown {
  if (typeof value === 'string') return shortText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (context.depth === MAX_DEPTH) return '[…]';
  return redactObject(value, { ...context, depth: context.depth + 1 });
}

function redactObject(value: object, context: Context): unknown {
  if (value instanceof Error) return redactError(value, context);
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (isCertificate(value)) return redactRecord(certificateNames(value), context);
  if (value instanceof Date) return value.toJSON();
  if (Array.isArray(value)) return redactList(value, context);
  if (value instanceof Map) return redactRecord(Object.fromEntries(value), context);
  if (value instanceof Set) return redactList([...value], context);
  return redactRecord(value as Record<string, unknown>, context);
}

/** What Node puts into the errors of TLS. Its issuers are in it, and the last of them is its own issuer. */
interface PeerCertificate extends Record<string, unknown> {
  readonly raw: Uint8Array;
}

function isCertificate(value: object): value is PeerCertificate {
  return 'raw' in value && value.raw instanceof Uint8Array && 'fingerprint256' in value;
}

function certificateNames({ subject, subjectaltname, valid_from, valid_to, fingerprint256 }: PeerCertificate): Record<string, unknown> {
  return { subject, subjectaltname, valid_from, valid_to, fingerprint256 };
}

function redactList(list: readonly unknown[], context: Context): readonly unknown[] {
  const items = list.slice(0, MAX_ITEMS).map((item) => redactValue(item, context));
  return list.length > MAX_ITEMS ? [...items, `… (${list.length} items)`] : items;
}

function redactError(error: Error, context: Context): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  return redactRecord({ name, message, ...Object.fromEntries(Object.entries(error)), stack, cause }, context);
}

function isSecretName(name: string, secretNames: ReadonlySet<string>): boolean {
  return SECRET_NAME.test(name) || (secretNames.size > 0 && secretNames.has(plainName(name)));
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ .]/g, '');
}
