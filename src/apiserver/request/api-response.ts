import type { TableDefinition } from '#api';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';
import type { WatchSink } from '../watch-cache/watcher.ts';

/** What a handler answers, before anyone thinks of bytes: the transport renders it, or hands it over as it is. */
export type ApiResponse = ObjectResponse | StatusResponse | ListResponse | WatchResponse | RawResponse | StreamResponse;

export interface ObjectResponse {
  readonly type: 'object';
  readonly code: number;
  readonly resource: ServedResource;
  readonly object: VersionedObject;
}

/** An object that is not kept: a Status, a review, a Scale. It knows its own apiVersion and kind. */
export interface StatusResponse {
  readonly type: 'plain';
  readonly code: number;
  readonly object: { readonly kind?: string; readonly apiVersion?: string; readonly [field: string]: unknown };
  /** How it is printed, for who asks for a table. */
  readonly table?: TableDefinition<KubeObject>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ListResponse {
  readonly type: 'list';
  readonly resource: ServedResource;
  readonly items: readonly VersionedObject[];
  readonly revision: number;
  readonly continue?: string | undefined;
  readonly remaining?: number | undefined;
}

export interface WatchResponse {
  readonly type: 'watch';
  readonly resource: ServedResource;
  /** Starts delivery; the sink gets everything from here on, in order. Returns the way to stop it. */
  open(sink: WatchSink): () => void;
  readonly timeoutMs: number;
  /** The client wants to be told, now and then, how far it has come. */
  readonly bookmarks: boolean;
  /** The revision that everything delivered so far reaches. */
  revision(): number;
}

export interface RawResponse {
  readonly type: 'raw';
  readonly code: number;
  readonly contentType: string;
  readonly body: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bytes that come over time, such as a container's log. */
export interface StreamResponse {
  readonly type: 'stream';
  readonly code: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

export type Handler = (request: ApiRequestOf) => Promise<ApiResponse> | ApiResponse;
type ApiRequestOf = import('./api-request.ts').ApiRequest;
