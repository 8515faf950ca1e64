import type { Clock } from '#base';
import type { ApiResponse, Handler } from '../handlers/api-response.ts';
import { PAGE_NOT_FOUND } from '../handlers/route.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { parseAccept } from '../request/negotiation.ts';
import { type AggregatedOpenApi, NO_AGGREGATED_OPENAPI } from './merged-openapi.ts';
import { addressOf, type OpenApi, type OpenApiDocument } from './openapi.ts';

const JSON_TYPE = 'application/json';
/** Upstream leaves the index to the detection of its HTTP library. */
const INDEX_TYPE = 'text/plain; charset=utf-8';
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** Serves everything below `/openapi`. */
export function openapiHandler(openapi: OpenApi, clock: Clock, delegated: AggregatedOpenApi = NO_AGGREGATED_OPENAPI): Handler {
  return (request) => {
    const path = request.path.replace(/\/$/, '');
    if (path === '/openapi/v2') return openapi.prepareV2(clock).then((document) => negotiated(request, 'v2', document));
    if (path === '/openapi/v3') return openapi.indexV3(clock).then((index) => respond(request, { ...index, contentType: INDEX_TYPE }));
    if (!path.startsWith('/openapi/v3/')) return PAGE_NOT_FOUND;
    return delegated.respond(path.slice('/openapi/v3/'.length), request) ?? version3(request, { openapi, clock });
  };
}

function version3(request: ApiRequest, { openapi, clock }: { openapi: OpenApi; clock: Clock }): ApiResponse {
  const key = request.path.replace(/\/$/, '').slice('/openapi/v3/'.length);
  const document = openapi.documentV3(key);
  if (document === undefined) return PAGE_NOT_FOUND;
  const hash = request.query.get('hash');
  if (hash === null || hash === '') return negotiated(request, 'v3', document);
  if (hash !== document.hash)
    return { type: 'raw', code: 301, contentType: 'text/html; charset=utf-8', body: '', headers: { location: addressOf(key, document) } };
  const expires = new Date(clock.now() + YEAR_MS).toUTCString().replace('GMT', 'UTC');
  return negotiated(request, 'v3', document, { 'cache-control': 'public, immutable', expires });
}

type Headers = Readonly<Record<string, string>>;

/** In the first acceptable format; otherwise upstream's 406 without details. */
function negotiated(request: ApiRequest, version: 'v2' | 'v3', document: OpenApiDocument, headers: Headers = {}): ApiResponse {
  const { accepts, contentType } = protobufTypes(version);
  const accepted = parseAccept(request.header('accept') || '*/*').map(({ type }) => type);
  const chosen = accepted.find((type) => isJson(type) || accepts.includes(type));
  if (chosen === undefined) return { type: 'raw', code: 406, contentType: 'text/plain', body: '', headers: { vary: 'Accept' } };
  const { hash, body, protobuf } = document;
  if (isJson(chosen)) return respond(request, { body, hash, contentType: JSON_TYPE, headers });
  return respond(request, { body: protobuf(), hash, contentType: contentType, headers });
}

/** Clients send the version with `@`, which is invalid in a media type; responses use a dot. */
function protobufTypes(version: 'v2' | 'v3'): { readonly accepts: readonly string[]; readonly contentType: string } {
  const contentType = `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
  return { accepts: [contentType, `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`], contentType };
}

function isJson(type: string): boolean {
  return type === JSON_TYPE || type === '*/*' || type === 'application/*';
}

interface Content {
  readonly body: Buffer;
  readonly hash: string;
  readonly contentType: string;
  readonly headers?: Headers;
}

function respond(request: ApiRequest, { body, hash, contentType, headers }: Content): ApiResponse {
  const etag = `"${hash}"`;
  const all = { etag, vary: 'Accept', ...headers };
  if (request.header('if-none-match') === etag) return { type: 'raw', code: 304, contentType, body: '', headers: all };
  return { type: 'raw', code: 200, contentType, body, headers: all };
}
