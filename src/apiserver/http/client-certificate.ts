import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../request/api-request.ts';

const CACHE = new WeakMap<TLSSocket, { certificate: ClientCertificate | undefined }>();

/** The verified client certificate of a connection; read once a connection. */
export function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  let known = CACHE.get(socket);
  if (known === undefined) {
    known = { certificate: read(socket) };
    CACHE.set(socket, known);
  }
  return known.certificate;
}

function read(socket: TLSSocket): ClientCertificate | undefined {
  if (!socket.authorized) return undefined;
  const peer = socket.getPeerCertificate();
  const subject = peer?.subject as { CN?: string | string[]; O?: string | string[] } | undefined;
  if (subject === undefined) return undefined;
  return { commonName: [subject.CN ?? ''].flat()[0]!, organizations: [subject.O ?? []].flat(), fingerprint: peer.fingerprint256 };
}
