import type { KubeObject } from './kube-object.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface TransportRequest {
  readonly method: Method;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** A JSON-shaped value. Never changed afterwards, by neither side. */
  readonly body?: unknown;
  /** Of the body; for a patch it says which kind of patch. Default application/json. */
  readonly contentType?: string;
  /** A form of the answer other than plain JSON objects. */
  readonly accept?: string;
  /** Only the metadata of objects is wanted. A transport for which that is no cheaper may answer with whole objects. */
  readonly metadataOnly?: 'object' | 'list' | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of each warning that the server sends with its answer. */
  readonly onWarning?: ((text: string) => void) | undefined;
}

/** Takes the events of a watch, in order, as they come. After `error` or `end` nothing follows. */
export interface WatchSink<T = KubeObject> {
  event(type: WatchEventType, object: T): void;
  /** Every change up to this version has been delivered. `initialEventsEnd` closes the state that was asked for first. */
  bookmark(resourceVersion: string, initialEventsEnd: boolean): void;
  /** The watch could not be opened, or cannot go on. */
  error(error: unknown): void;
  /** The server ended the watch; a new one can start where it stopped. */
  end(): void;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * How a client reaches a server: over the network, or by a call within the process. Both carry one identity, and both fail with the same
 * `StatusError`s.
 */
export interface Transport extends AsyncDisposable {
  /** Objects come from this process and stay open for as long as it lives: watches need no time limit. */
  readonly isLocal: boolean;
  /** The decoded answer: an object, a list, or a Status of success. Rejects with a StatusError, or with the signal's reason. */
  request(request: TransportRequest): Promise<unknown>;
  /** The answer as text: logs, `/metrics`, `/readyz`. */
  text(request: TransportRequest): Promise<string>;
  /** The answer's bytes as they come: a log that is followed. */
  stream(request: TransportRequest): AsyncIterable<Uint8Array>;
  /** Delivers to `sink` until the watch ends or the result is disposed of; after that the sink is not called again. */
  watch(request: TransportRequest, sink: WatchSink): Disposable;
}
