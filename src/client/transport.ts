import type { KubeObject } from './kube-object.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface TransportRequest {
  readonly method: Method;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** A JSON value. Immutable. */
  readonly body?: unknown;
  /** The body's content type, which selects the kind of patch. Default application/json. */
  readonly contentType?: string;
  /** Requests a response format other than JSON objects. */
  readonly accept?: string;
  /** Only metadata is needed. A transport for which that is not cheaper may return full objects. */
  readonly metadataOnly?: 'object' | 'list' | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each warning in a response. */
  readonly onWarning?: ((text: string) => void) | undefined;
}

/** Receives the events of a watch in order. Nothing follows `error` or `end`. */
export interface WatchSink<T = KubeObject> {
  event(type: WatchEventType, object: T): void;
  /** Every change up to this version has been delivered. `initialEventsEnd` terminates the initial state. */
  bookmark(resourceVersion: string, initialEventsEnd: boolean): void;
  /** The watch could not be opened, or failed. */
  error(error: unknown): void;
  /** The server ended the watch; a new one can start where it stopped. */
  end(): void;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * How a client reaches a server: over the network, or in-process. Both carry one identity, and both fail with the same
 * `StatusError`s.
 */
export interface Transport extends AsyncDisposable {
  /** Objects are shared within this process and watches need no time limit. */
  readonly isLocal: boolean;
  /** The decoded response: an object, a list, or a successful Status. Rejects with a StatusError, or with the signal's reason. */
  request(request: TransportRequest): Promise<unknown>;
  /** The response as text: logs, `/metrics`, `/readyz`. */
  text(request: TransportRequest): Promise<string>;
  /** The response as it arrives: a followed log. */
  stream(request: TransportRequest): AsyncIterable<Uint8Array>;
  /** Delivers to `sink` until the watch ends or is disposed; after that the sink is not called. */
  watch(request: TransportRequest, sink: WatchSink): Disposable;
}
