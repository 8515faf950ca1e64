import type { TableDefinition } from '#api';
import type { Upgrade } from '#client';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { OpenWatch, WatchSink } from '../watch-cache/watcher.ts';

/** A handler's response. The HTTP transport renders it; the in-process transport passes it on. */
export type ApiResponse = ObjectResponse | StatusResponse | ListResponse | WatchResponse | RawResponse | StreamResponse | UpgradeResponse;

export interface ObjectResponse {
  readonly type: 'object';
  readonly code: number;
  readonly resource: ServedResource;
  readonly object: VersionedObject;
}

/** An object that is not stored: a Status, a review, a Scale. It carries its apiVersion and kind. */
export interface StatusResponse {
  readonly type: 'plain';
  readonly code: number;
  readonly object: { readonly kind?: string; readonly apiVersion?: string; readonly [field: string]: unknown };
  /** Columns for `Accept: as=Table`. */
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
  /** Starts delivery; the sink gets every change from here on, in order, and may have to convert it: see `loadVersions`. */
  open(sink: WatchSink): OpenWatch;
  /** Selectors that the transport applies once objects are converted: see `selectConverted`. */
  readonly matchesConverted?: ((object: KubeObject) => boolean) | undefined;
  readonly timeoutMs: number;
  /** The client requested bookmarks. */
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

/** Streamed bytes, such as a container's log. */
export interface StreamResponse {
  readonly type: 'stream';
  readonly code: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** The connection leaves HTTP: from the 101 on it is bytes in both directions, in the hands of `serve` until that resolves. */
export interface UpgradeResponse extends Upgrade {
  readonly type: 'upgrade';
}

export type Handler = (request: ApiRequestOf) => Promise<ApiResponse> | ApiResponse;
type ApiRequestOf = import('../request/api-request.ts').ApiRequest;
