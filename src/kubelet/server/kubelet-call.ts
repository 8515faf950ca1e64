import type { Readable } from 'node:stream';
import type { Upgrade } from '#client';

/** A request to the kubelet: over the network, or from an API server in the same process. */
export interface KubeletCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** By lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | Readable;
  readonly signal?: AbortSignal;
}

export interface KubeletContent {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Content, or an upgraded connection. */
export type KubeletResponse = KubeletContent | Upgrade;

/** An error response, with the text that clients print. */
export class KubeletError extends Error {
  override readonly name = 'KubeletError';

  constructor(
    readonly code: 400 | 404 | 405 | 422 | 500,
    message: string,
  ) {
    super(message);
  }
}

/** The path and query of a request line. Undefined: it names none. */
export function requestTarget(url: string | undefined): URL | undefined {
  // A path with two leading slashes would be parsed as a host.
  const text = url?.startsWith('/') ? `https://kubelet${url}` : url;
  return text === undefined || !URL.canParse(text) ? undefined : new URL(text);
}

export function textResponse(code: number, message: string): KubeletContent {
  return contentResponse(code, 'text/plain; charset=utf-8', message);
}

export function jsonResponse(value: object): KubeletContent {
  return contentResponse(200, 'application/json', JSON.stringify(value));
}

export function contentResponse(code: number, contentType: string, body: string | Uint8Array): KubeletContent {
  return { code, headers: { 'content-type': contentType }, body: once(Buffer.from(body)) };
}

export function notFound(): KubeletContent {
  return textResponse(404, '404 page not found');
}

async function* once(chunk: Uint8Array): AsyncIterable<Uint8Array> {
  yield chunk;
}
