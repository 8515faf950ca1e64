import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { certificates } from '#api';
import { type AlternativeNames, type Clock, createCertificateRequest } from '#base';
import type { Client } from '#client';
import { findCondition, isStatusReason } from '#machinery';

export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
export const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';

export interface CertificateRequest {
  readonly nodeName: string;
  readonly signerName: typeof CLIENT_SIGNER | typeof SERVING_SIGNER;
  readonly key: KeyObject;
  readonly names?: AlternativeNames;
}

export interface RequestDeps {
  readonly client: Client;
  readonly clock: Clock;
}

/** The certificate request was denied, or signing it failed. */
export class CertificateDeniedError extends Error {
  override readonly name = 'CertificateDenied';
}

const POLL_MS = 1000;

/** Requests a certificate of the node from the cluster's signer, and waits until it is issued: it may need approval. */
export async function requestCertificate(request: CertificateRequest, deps: RequestDeps, signal: AbortSignal): Promise<string> {
  const requests = deps.client.of(certificates.CertificateSigningRequest);
  const name = requestName(request);
  const { uid } = await createRequest(request, name, deps);
  for (;;) {
    const { metadata, status } = await requests.get({ name });
    if (metadata.uid !== uid) throw new Error(`csr "${name}" changed UIDs`);
    const rejection = ['Denied', 'Failed']
      .map((type) => findCondition(status?.conditions, type))
      .find((condition) => condition !== undefined);
    if (rejection !== undefined)
      throw new CertificateDeniedError(
        `certificate signing request is ${rejection.type.toLowerCase()}, reason: ${rejection.reason ?? ''}, message: ${rejection.message ?? ''}`,
      );
    if (status?.certificate) return Buffer.from(status.certificate, 'base64').toString();
    await deps.clock.sleep(POLL_MS, signal);
  }
}

async function createRequest(request: CertificateRequest, name: string, { client }: RequestDeps): Promise<{ readonly uid?: string }> {
  const { nodeName, signerName, key, names = {} } = request;
  const pem = createCertificateRequest(key, {
    ...names,
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
  });
  const spec = { request: Buffer.from(pem).toString('base64'), signerName, usages: usagesOf(signerName) };
  const requests = client.of(certificates.CertificateSigningRequest);
  try {
    return (await requests.create({ metadata: { name }, spec })).metadata;
  } catch (error) {
    // Requested before a restart, with the same key.
    if (!isStatusReason(error, 'AlreadyExists')) throw error;
    return (await requests.get({ name })).metadata;
  }
}

function usagesOf(signerName: string): readonly string[] {
  return ['digital signature', signerName === CLIENT_SIGNER ? 'client auth' : 'server auth'];
}

/** Derived from key, names and usages, so that a restarted kubelet finds its own request. */
function requestName({ nodeName, signerName, key, names = {} }: CertificateRequest): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const hash = createHash('sha512-256').update(publicKey);
  for (const part of [nodeName, signerName, ...(names.dnsNames ?? []), ...(names.ipAddresses ?? [])]) hash.update(`|${part}`);
  return `${signerName === CLIENT_SIGNER ? 'node-csr' : 'csr'}-${hash.digest('hex')}`;
}
