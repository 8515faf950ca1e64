import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { type DecodedSubject, DerError, readCertificateSubject } from '#base';
import type { ClientCertificate } from '../request/api-request.ts';

const CACHE = new WeakMap<TLSSocket, { certificate: ClientCertificate | undefined }>();
/** The subject attribute in which a certificate carries the uid of a Kubernetes user. */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

/** The client certificate of a connection with its verification result; cached per connection. */
export function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  let cached = CACHE.get(socket);
  if (cached === undefined) {
    cached = { certificate: read(socket) };
    CACHE.set(socket, cached);
  }
  return cached.certificate;
}

function read(socket: TLSSocket): ClientCertificate | undefined {
  const peer = socket.getPeerCertificate?.();
  if (peer?.subject === undefined) return undefined;
  const subject = subjectOf(peer.raw);
  return {
    commonName: subject?.commonName ?? '',
    organizations: subject?.organizations ?? [],
    uids: subject?.values.get(UID_ATTRIBUTE) ?? [],
    fingerprint: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
    notAfter: Date.parse(peer.valid_to),
    chain: () => chainOf(socket.getPeerCertificate(true)),
    ...(!socket.authorized && { problem: String(socket.authorizationError ?? 'not trusted') }),
    ...(subject === undefined && { problem: 'the subject cannot be read' }),
  };
}

/** The chain limit; the root is self-issued. */
const MAX_CHAIN = 16;

function chainOf(first: DetailedPeerCertificate): readonly Buffer[] {
  const chain: Buffer[] = [];
  for (let link: DetailedPeerCertificate | undefined = first; link?.raw !== undefined && chain.length < MAX_CHAIN; ) {
    chain.push(link.raw);
    link = link.issuerCertificate === link ? undefined : link.issuerCertificate;
  }
  return chain;
}

/** Parsed like signing requests, so that a certificate's subject is what was checked in its request. */
function subjectOf(certificate: Uint8Array): DecodedSubject | undefined {
  try {
    return readCertificateSubject(certificate);
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}
