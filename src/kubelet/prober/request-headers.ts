import type { core } from '#api';

export type RequestHeaders = Readonly<Record<string, string | string[]>>;

/** Headers that Go sets itself, or never sends. */
const NOT_COPIED = new Set(['Host', 'User-Agent', 'Content-Length', 'Transfer-Encoding', 'Trailer']);

/** The headers of an HTTP probe or hook, in the order and with the names that Go's client sends: servers in containers log them. */
export function requestHeaders({ httpHeaders = [] }: core.HTTPGetAction, userAgent: string): RequestHeaders {
  const headers = new Map<string, string[]>([...DEFAULTS, ['User-Agent', [userAgent]]]);
  for (const [name, values] of grouped(httpHeaders)) headers.set(name, values);
  if (headers.get('Accept')?.[0] === '') headers.delete('Accept');
  const [agent = ''] = headers.get('User-Agent') ?? [];
  const [host = ''] = headers.get('Host') ?? [];
  const rest = [...headers].filter(([name]) => !NOT_COPIED.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...(host && { Host: host }), ...(agent && { 'User-Agent': agent }), ...Object.fromEntries(rest) };
}

const DEFAULTS: readonly [string, string[]][] = [['Accept', ['*/*']]];

function grouped(httpHeaders: readonly core.HTTPHeader[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const { name, value } of httpHeaders) {
    const key = canonicalName(name);
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  return headers;
}

/** `x-forwarded-FOR` is `X-Forwarded-For`. */
function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}
