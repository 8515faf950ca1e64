import { type CelLibrary, declare, method, overload } from '../check/declarations.ts';
import { BOOL, closedType, listType, mapType, STRING } from '../types.ts';
import { CelList, EntryMap } from '../values/containers.ts';
import { CelObject, type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';
import {
  escapedPath,
  formatUrl,
  type GoUrl,
  hostname,
  parseRequestUri,
  parseUrlReference,
  port,
  queryValues,
  requestUriProblem,
  UrlError,
} from './go-url.ts';

export const URL_TYPE = closedType('kubernetes.URL');

export class UrlValue extends CelObject {
  readonly type = URL_TYPE;
  readonly url: GoUrl;

  constructor(url: GoUrl) {
    super();
    this.url = url;
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof UrlValue)) throw noSuchOverload();
    return formatUrl(this.url) === formatUrl(other.url);
  }

  override toJson(): string {
    return formatUrl(this.url);
  }
}

function toUrl(text: string): UrlValue {
  try {
    parseRequestUri(text);
    // Parsed again, since request targets have no fragment.
    return new UrlValue(parseUrlReference(text));
  } catch (error) {
    if (error instanceof UrlError) throw new EvalFailure(`URL parse error during conversion from string: ${error.message}`);
    throw error;
  }
}

function isUrl(text: string): boolean {
  return requestUriProblem(text) === undefined;
}

function query({ url }: UrlValue): EntryMap {
  return EntryMap.from([...queryValues(url)].map(([key, values]) => ({ key, value: CelList.of(values) })));
}

const ACCESSOR = { args: [URL_TYPE], result: STRING };
const QUERY = { args: [URL_TYPE], result: mapType(STRING, listType(STRING)) };

export const URL_LIBRARY: CelLibrary = {
  functions: [
    declare('url', overload('string_to_url', { args: [STRING], result: URL_TYPE }, toUrl)),
    declare(
      'getScheme',
      method('url_get_scheme', ACCESSOR, ({ url }: UrlValue) => url.scheme),
    ),
    declare(
      'getHost',
      method('url_get_host', ACCESSOR, ({ url }: UrlValue) => url.host),
    ),
    declare(
      'getHostname',
      method('url_get_hostname', ACCESSOR, ({ url }: UrlValue) => hostname(url)),
    ),
    declare(
      'getPort',
      method('url_get_port', ACCESSOR, ({ url }: UrlValue) => port(url)),
    ),
    declare(
      'getEscapedPath',
      method('url_get_escaped_path', ACCESSOR, ({ url }: UrlValue) => escapedPath(url)),
    ),
    declare('getQuery', method('url_get_query', QUERY, query)),
    declare('isURL', overload('is_url_string', { args: [STRING], result: BOOL }, isUrl)),
  ],
};
