import { pushAll } from '#base';
import { goQuote } from '../../values/go-format.ts';

/** A URL that cannot be parsed, in the words of Go's net/url. */
export class UrlError extends Error {
  constructor(url: string, problem: string) {
    super(`parse ${goQuote(url)}: ${problem}`);
    this.name = 'UrlError';
  }
}

class Problem {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The parts of a URL as Go's net/url splits it. */
export interface GoUrl {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string | undefined;
  readonly host: string;
  /** The path as it is written. */
  readonly path: string;
  readonly query: string | undefined;
  readonly fragment: string;
}

type Mode = 'path' | 'host' | 'zone' | 'userinfo' | 'query' | 'fragment';

/** Parses a request target: an absolute URL or an absolute path. Throws a UrlError. */
export function parseRequestUri(text: string): GoUrl {
  return parsing(text, () => parseUrl(text, true));
}

/** Why a text is not a request target; undefined when it is one. */
export function requestUriProblem(text: string): string | undefined {
  return problemOf(() => parseRequestUri(text));
}

/** Why a text is no URL reference; undefined when it is one. */
export function urlReferenceProblem(text: string): string | undefined {
  return problemOf(() => parseUrlReference(text));
}

function problemOf(parse: () => GoUrl): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof UrlError) return error.message;
    throw error;
  }
}

/** Parses any URL reference. Throws a UrlError. */
export function parseUrlReference(text: string): GoUrl {
  return parsing(text, () => {
    const hash = text.indexOf('#');
    const url = parseUrl(hash < 0 ? text : text.slice(0, hash), false);
    return hash < 0 ? url : { ...url, fragment: checkEscapes(text.slice(hash + 1), 'fragment') };
  });
}

function parsing(text: string, parse: () => GoUrl): GoUrl {
  try {
    return parse();
  } catch (error) {
    throw error instanceof Problem ? new UrlError(text, error.text) : error;
  }
}

function parseUrl(text: string, viaRequest: boolean): GoUrl {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: URLs must not contain them
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new Problem('net/url: invalid control character in URL');
  if (text === '' && viaRequest) throw new Problem('empty url');
  const empty = { scheme: '', opaque: '', user: undefined, host: '', path: '', query: undefined, fragment: '' };
  if (text === '*') return { ...empty, path: '*' };
  const { scheme, rest } = splitScheme(text);
  const { before, query } = splitQuery(rest);
  if (!before.startsWith('/')) {
    if (scheme !== '') return { ...empty, scheme, opaque: before, query };
    if (viaRequest) throw new Problem('invalid URI for request');
    if (/^[^/]*:/.test(before)) throw new Problem('first path segment in URL cannot contain colon');
  }
  const hasAuthority = (scheme !== '' || (!viaRequest && !before.startsWith('///'))) && before.startsWith('//');
  if (!hasAuthority) return { ...empty, scheme, path: checkEscapes(before, 'path'), query };
  const slash = before.indexOf('/', 2);
  const authority = parseAuthority(before.slice(2, slash < 0 ? undefined : slash));
  return { ...empty, ...authority, scheme, path: checkEscapes(slash < 0 ? '' : before.slice(slash), 'path'), query };
}

function splitScheme(text: string): { readonly scheme: string; readonly rest: string } {
  if (text.startsWith(':')) throw new Problem('missing protocol scheme');
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
  if (match === null) return { scheme: '', rest: text };
  return { scheme: (match[1] ?? '').toLowerCase(), rest: text.slice(match[0].length) };
}

function splitQuery(text: string): { readonly before: string; readonly query: string | undefined } {
  const mark = text.indexOf('?');
  return mark < 0 ? { before: text, query: undefined } : { before: text.slice(0, mark), query: text.slice(mark + 1) };
}

function parseAuthority(authority: string): Pick<GoUrl, 'user' | 'host'> {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(user)) throw new Problem('net/url: invalid userinfo');
  return { user: checkEscapes(user, 'userinfo'), host };
}

function parseHost(host: string): string {
  if (host.startsWith('[')) return parseBracketedHost(host);
  const colon = host.lastIndexOf(':');
  if (colon >= 0) checkPort(host.slice(colon));
  return decodeEscapes(host, 'host');
}

function parseBracketedHost(host: string): string {
  const close = host.lastIndexOf(']');
  if (close < 0) throw new Problem("missing ']' in host");
  checkPort(host.slice(close + 1));
  const zone = host.slice(0, close).indexOf('%25');
  if (zone < 0) return decodeEscapes(host, 'host');
  return (
    decodeEscapes(host.slice(0, zone), 'host') + decodeEscapes(host.slice(zone, close), 'zone') + decodeEscapes(host.slice(close), 'host')
  );
}

function checkPort(colonPort: string): void {
  if (colonPort !== '' && !/^:[0-9]*$/.test(colonPort)) throw new Problem(`invalid port ${goQuote(colonPort)} after host`);
}

/** The text, once its escapes have proved valid. */
function checkEscapes(text: string, mode: Mode): string {
  decodeEscapes(text, mode);
  return text;
}

// Characters of a host that need no escape: RFC 3986's sub-delims, and some others that Go allows.
const HOST_CHARACTERS = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uffff]$/;

function decodeEscapes(text: string, mode: Mode): string {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; ) {
    const char = text[i] ?? '';
    if (char === '%') {
      bytes.push(escapedByte(text, i, mode));
      i += 3;
      continue;
    }
    if ((mode === 'host' || mode === 'zone') && !HOST_CHARACTERS.test(char)) {
      throw new Problem(`invalid character ${goQuote(char)} in host name`);
    }
    const codePoint = text.codePointAt(i) ?? 0;
    pushAll(bytes, mode === 'query' && char === '+' ? [0x20] : new TextEncoder().encode(String.fromCodePoint(codePoint)));
    i += codePoint > 0xffff ? 2 : 1;
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function escapedByte(text: string, i: number, mode: Mode): number {
  const sequence = text.slice(i, i + 3);
  if (!/^%[0-9A-Fa-f]{2}$/.test(sequence)) throw new Problem(`invalid URL escape ${goQuote(sequence)}`);
  const byte = Number.parseInt(sequence.slice(1), 16);
  // Hosts may escape what is not ASCII; a percent sign starts a zone, where spaces and the like are escaped too.
  if (mode === 'host' && byte < 0x80 && sequence !== '%25') throw new Problem(`invalid URL escape ${goQuote(sequence)}`);
  return byte;
}

const PATH_SAFE = /[A-Za-z0-9\-_.~$&+,/:;=@]/;

/** The path with its escapes, as it should be sent. */
export function escapedPath(url: GoUrl): string {
  if (/^(?:[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]]|%[0-9A-Fa-f]{2})*$/.test(url.path)) return url.path;
  if (url.path === '*') return '*';
  let escaped = '';
  for (const byte of new TextEncoder().encode(decodeEscapes(url.path, 'path'))) {
    const char = String.fromCharCode(byte);
    escaped += byte < 0x80 && PATH_SAFE.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}

export function hostname(url: GoUrl): string {
  const bare = url.host.replace(/:[0-9]*$/, '');
  const host = url.host.startsWith('[') || !bare.includes(':') ? bare : url.host;
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

export function port(url: GoUrl): string {
  return /:([0-9]*)$/.exec(url.host.startsWith('[') ? url.host.slice(url.host.lastIndexOf(']')) : url.host)?.[1] ?? '';
}

/** The query's values by key, in order. Undecodable ones are dropped. */
export function queryValues(url: GoUrl): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of (url.query ?? '').split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const key = tryUnescape(equals < 0 ? pair : pair.slice(0, equals));
    const value = tryUnescape(equals < 0 ? '' : pair.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return values;
}

function tryUnescape(text: string): string | undefined {
  try {
    return decodeEscapes(text, 'query');
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

export function formatUrl(url: GoUrl): string {
  const user = url.user === undefined ? '' : `${url.user}@`;
  const scheme = url.scheme === '' ? '' : `${url.scheme}:`;
  const authority = url.host === '' && user === '' ? '' : `//${user}${url.host}`;
  const query = url.query === undefined ? '' : `?${url.query}`;
  const fragment = url.fragment === '' ? '' : `#${url.fragment}`;
  return `${scheme}${url.opaque || authority + escapedPath(url)}${query}${fragment}`;
}
