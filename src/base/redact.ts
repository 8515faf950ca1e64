import type { LogFields } from './log-record.ts';

export const REDACTED = '[redacted]';

/** How the name of a secret ends: `client-secret` is one, `secretName` is not. */
const SECRET_NAME =
  /(?:pass[-_ .]?(?:word|wd|phrase)|secret|token|authorization|(?:private|api)[-_ .]?key|key[-_ .]?data|cookie|credentials)$/i;
/** Without any of these there is nothing to look for: most text has none. */
const MAYBE_SECRET = /PRIVATE KEY|Bearer|Basic|eyJ|:\/\//;
const TOKEN_OF_KIND = /\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]{6,}/g;
const JWT = /\beyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g;
const PRIVATE_KEY = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(-----END \1-----|$)/g;
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+@/gi;
const MAX_DEPTH = 8;

/** The text without bearer tokens, JWTs, private keys, and passwords in URLs. */
export function redactText(text: string): string {
  if (!MAYBE_SECRET.test(text)) return text;
  return text
    .replace(PRIVATE_KEY, REDACTED)
    .replace(TOKEN_OF_KIND, `$1 ${REDACTED}`)
    .replace(JWT, REDACTED)
    .replace(URL_PASSWORD, `$1${REDACTED}@`);
}

/** The fields as plain JSON values without secrets: neither values under a secret's name, nor a Secret's data, nor tokens inside text. */
export function redactFields(fields: LogFields): LogFields {
  return redactRecord(fields, { secretNames: NO_NAMES, depth: 0 });
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** As `redactFields`, for further names of secrets. */
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
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue;
    const hide = isSecretName(name, context.secretNames) || (inSecret && (name === 'data' || name === 'stringData'));
    result[name] = hide ? REDACTED : redactValue(value, context);
  }
  return result;
}

function redactValue(value: unknown, context: Context): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (context.depth === MAX_DEPTH) return '[…]';
  return redactObject(value, { ...context, depth: context.depth + 1 });
}

function redactObject(value: object, context: Context): unknown {
  if (value instanceof Error) return redactError(value, context);
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (value instanceof Date) return value.toJSON();
  if (Array.isArray(value)) return value.map((item) => redactValue(item, context));
  if (value instanceof Map) return redactRecord(Object.fromEntries(value), context);
  if (value instanceof Set) return [...value].map((item) => redactValue(item, context));
  return redactRecord(value as Record<string, unknown>, context);
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
