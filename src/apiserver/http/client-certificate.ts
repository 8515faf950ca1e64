import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../request/api-request.ts';

const CACHE = new WeakMap<TLSSocket, { certificate: ClientCertificate | undefined }>();
/** The subject attribute in which a certificate carries the uid of a Kubernetes user. */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

/** The client certificate of a connection, with the verdict on its chain; read once a connection. */
export function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  let known = CACHE.get(socket);
  if (known === undefined) {
    known = { certificate: read(socket) };
    CACHE.set(socket, known);
  }
  return known.certificate;
}

function read(socket: TLSSocket): ClientCertificate | undefined {
  const peer = socket.getPeerCertificate?.();
  const subject = peer?.subject as Readonly<Record<string, string | string[]>> | undefined;
  if (subject === undefined) return undefined;
  return {
    // Of several common names the last one counts, as in Go.
    commonName: valuesOf(subject.CN).at(-1) ?? '',
    organizations: valuesOf(subject.O),
    uids: valuesOf(subject[UID_ATTRIBUTE]),
    fingerprint: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
    notAfter: Date.parse(peer.valid_to),
    ...(!socket.authorized && { problem: String(socket.authorizationError ?? 'not trusted') }),
  };
}

function valuesOf(attribute: string | string[] | undefined): readonly string[] {
  return attribute === undefined ? [] : [attribute].flat();
}
