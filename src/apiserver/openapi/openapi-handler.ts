import { StatusError } from '#machinery';
import { methodNotAllowed, PAGE_NOT_FOUND } from '../handlers/route.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, Handler } from '../request/api-response.ts';
import { parseAccept } from '../request/negotiation.ts';
import { addressOf, type OpenApi, type OpenApiDocument } from './openapi.ts';

const JSON_TYPE = 'application/json';
/** Clients write the version with an `@`, which is not allowed in a media type; the answer has it with a dot. */
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const V2_PROTOBUF_ASKED: ReadonlySet<string> = new Set([V2_PROTOBUF, 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf']);

/** Answers everything below `/openapi`. */
export function openapiHandler(openapi: OpenApi): Handler {
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
    const path = request.path.replace(/\/$/, '');
    if (path === '/openapi/v2') return version2(request, openapi);
    if (path === '/openapi/v3') return respond(request, openapi.indexV3(), { contentType: jsonOnly(request) });
    return path.startsWith('/openapi/v3/') ? version3(request, openapi, path.slice('/openapi/v3/'.length)) : PAGE_NOT_FOUND;
  };
}

function version2(request: ApiRequest, openapi: OpenApi): ApiResponse {
  const wanted = acceptedTypes(request).find((type) => V2_PROTOBUF_ASKED.has(type) || isJson(type));
  if (wanted === undefined) throw StatusError.notAcceptable([JSON_TYPE, V2_PROTOBUF]);
  if (isJson(wanted)) return respond(request, openapi.documentV2(), { contentType: JSON_TYPE });
  return respond(request, openapi.documentV2Protobuf(), { contentType: V2_PROTOBUF });
}

function version3(request: ApiRequest, openapi: OpenApi, key: string): ApiResponse {
  const document = openapi.documentV3(key);
  if (document === undefined) return PAGE_NOT_FOUND;
  const contentType = jsonOnly(request);
  const hash = request.query.get('hash');
  if (hash === null || hash === '') return respond(request, document, { contentType });
  if (hash === document.hash) return respond(request, document, { contentType, cacheControl: 'public, immutable' });
  return { type: 'raw', code: 301, contentType: 'text/html; charset=utf-8', body: '', headers: { location: addressOf(key, document) } };
}

function jsonOnly(request: ApiRequest): string {
  if (!acceptedTypes(request).some(isJson)) throw StatusError.notAcceptable([JSON_TYPE]);
  return JSON_TYPE;
}

function acceptedTypes(request: ApiRequest): readonly string[] {
  return parseAccept(request.header('accept') || '*/*').map(({ type }) => type);
}

function isJson(type: string): boolean {
  return type === JSON_TYPE || type === '*/*' || type === 'application/*';
}

interface RespondOptions {
  readonly contentType: string;
  readonly cacheControl?: string;
}

function respond(request: ApiRequest, { body, hash }: OpenApiDocument, { contentType, cacheControl }: RespondOptions): ApiResponse {
  const etag = `"${hash}"`;
  const headers = { etag, vary: 'Accept', ...(cacheControl !== undefined && { 'cache-control': cacheControl }) };
  if (request.header('if-none-match') === etag) return { type: 'raw', code: 304, contentType, body: '', headers };
  return { type: 'raw', code: 200, contentType, body, headers };
}
