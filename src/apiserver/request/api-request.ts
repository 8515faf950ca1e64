import type { Readable } from 'node:stream';
import type { Span } from '#base';
import type { JsonValue, StatusError } from '#machinery';
import type { HeaderLine } from './header-lines.ts';
import type { RequestInfo } from './request-info.ts';
import type { UserInfo } from './user.ts';

/**
 * A request in the filter chain, from a socket or from an in-process client. In-process requests carry their body as an object and an
 * authenticated user.
 */
export interface ApiRequest {
  readonly method: string;
  /** The raw request target. Undefined for in-process requests. */
  readonly url?: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  header(name: string): string | undefined;
  /** All header lines whose name begins with `prefix`, for repeated headers. Undefined for in-process requests. */
  headerLines?(prefix: string): readonly HeaderLine[];
  readonly body: RequestBody;
  /** The client's address, for logs and audit. */
  readonly remoteAddress: string;
  /** Aborts when the client disconnects or the server stops. Created on first use. */
  readonly signal: AbortSignal;
  /** The client certificate, if any. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Set by the transport of a trusted in-process caller, or by the authentication filter. */
  user?: UserInfo;
  /** Sent as Warning headers. */
  readonly warnings: string[];
  /** Set by filters, and sent with any response. */
  responseHeaders?: Readonly<Record<string, string>>;
  /** Set by the first filter. */
  audit?: AuditContext;
  /** Set by the handler of a write: the document that the object was decoded from. */
  document?: JsonValue;
  /** Set by tracing, if the request is sampled. */
  span?: Span;
  /** Set by flow control: the flow schema and priority level. */
  flow?: FlowIdentity;
  /** From an in-process component. */
  readonly isLocal: boolean;
  /** Called with the response code once it was sent or the client disconnected. */
  onFinished(callback: (code: number) => void): void;
  /** HTTP/2: sends GOAWAY and finishes open requests. Undefined for HTTP/1.1. */
  leaveConnection?(): void;
  /** Responds with this error, whatever the handler does. Undefined for in-process requests, which use their own signal. */
  cancel?(error: StatusError): void;
}

export interface FlowIdentity {
  /** The flow schema's uid. */
  readonly uid: string;
  readonly level: { readonly uid: string };
}

export interface AuditContext {
  /** The client's own `Audit-Id`, or a new one. */
  readonly id: string;
  /** Set if the request is audited. */
  record?: AuditRecord | undefined;
}

/** Additions to the audit event of a request. */
export interface AuditRecord {
  /** The first value of a key wins. */
  annotate(key: string, value: string): void;
  /** Only recorded at levels that include bodies. */
  annotateBody(key: string, value: () => string): void;
  /** The decoded body: an object, options or a patch. The last call wins. */
  setRequestObject(object: unknown): void;
  setImpersonatedUser(user: UserInfo, constraint: string): void;
}

export type RequestBody =
  | {
      readonly type: 'bytes';
      read(limit: number): Promise<Buffer>;
      /** The raw body, for proxying. Instead of `read`. */
      stream(): Readable;
      readonly contentType: string;
    }
  | { readonly type: 'object'; readonly value: unknown; readonly contentType: string };

export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, in lower-case hex. */
  readonly fingerprint: string;
  /** From the subject attribute for Kubernetes uids. More than one is an error. */
  readonly uids: readonly string[];
  /** The certificate's expiry in milliseconds since the epoch, also for long-lived connections. */
  readonly notAfter: number;
  /** The verification error; absent when the chain is trusted. */
  readonly problem?: string;
  /** The certificate chain as presented, in DER. */
  readonly chain?: () => readonly Buffer[];
}

/** The limit of warnings. */
const MAX_WARNINGS = 512;

/** Adds a warning, deduplicated. */
export function warn({ warnings }: ApiRequest, message: string): void {
  if (warnings.length < MAX_WARNINGS && !warnings.includes(message)) warnings.push(message);
}
