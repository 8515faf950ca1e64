import type { UserInfo } from '../authn/user.ts';
import type { HeaderLine } from './header-lines.ts';
import type { RequestInfo } from './request-info.ts';

/**
 * A request on its way through the chain. It comes from a socket or from a caller in the same process; past the transport nobody can tell
 * which, but that the in-process one brings its body as an object and its user already known.
 */
export interface ApiRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  header(name: string): string | undefined;
  /** Every line whose name begins with `prefix`, for headers that may come more than once. Absent in callers that send no such headers. */
  headerLines?(prefix: string): readonly HeaderLine[];
  readonly body: RequestBody;
  /** Where the request comes from, for logs and audit. */
  readonly remoteAddress: string;
  /** Aborts when the client goes away or the server stops. Made only when asked for. */
  readonly signal: AbortSignal;
  /** What the client showed, if it showed a certificate. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Set by the transport of a trusted in-process caller, or by the authentication filter. */
  user?: UserInfo;
  /** Sent as Warning headers with the answer. */
  readonly warnings: string[];
  readonly auditId: string;
}

export type RequestBody =
  | { readonly type: 'bytes'; read(limit: number): Promise<Buffer>; readonly contentType: string }
  | { readonly type: 'object'; readonly value: unknown; readonly contentType: string };

export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, in lower-case hex. */
  readonly fingerprint: string;
  /** From the attribute in which Kubernetes keeps a user's uid. More than one is an error. */
  readonly uids: readonly string[];
  /** Milliseconds since the epoch after which it counts no more, however long the connection lives. */
  readonly notAfter: number;
  /** Why its chain does not lead to a trusted authority; absent when it does. */
  readonly problem?: string;
}

/** Adds a warning once, however often it is given. */
export function warn(request: ApiRequest, message: string): void {
  if (!request.warnings.includes(message)) request.warnings.push(message);
}
