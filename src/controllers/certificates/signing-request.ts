import { certificates } from '#api';
import { type RequestedCertificate, readCertificateRequest } from '#base';

export type SigningRequest = certificates.CertificateSigningRequest;
type Condition = NonNullable<NonNullable<SigningRequest['status']>['conditions']>[number];

export const SIGNERS = {
  kubeletServing: 'kubernetes.io/kubelet-serving',
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  apiServerClient: 'kubernetes.io/kube-apiserver-client',
  legacyUnknown: 'kubernetes.io/legacy-unknown',
} as const;

/** What the request asks for. Throws when it cannot be read. */
export function requestedCertificate({ spec }: SigningRequest): RequestedCertificate {
  return readCertificateRequest(requestPem(spec.request));
}

/** Throws unless whoever made the request holds the key that it asks a certificate for. */
export function checkSignature({ spec }: SigningRequest): void {
  certificates.checkRequestSignature(certificates.parseCertificateRequest(requestPem(spec.request)));
}

function requestPem(request: string): string {
  return Buffer.from(request, 'base64').toString('utf8');
}

export function conditionsOf({ status }: SigningRequest): readonly Condition[] {
  return status?.conditions ?? [];
}

export function hasCondition(request: SigningRequest, type: string): boolean {
  return conditionsOf(request).some((condition) => condition.type === type && condition.status !== 'False');
}

export function isIssued({ status }: SigningRequest): boolean {
  return (status?.certificate ?? '') !== '';
}

export function withCondition(request: SigningRequest, condition: Condition): SigningRequest {
  return { ...request, status: { ...request.status, conditions: [...conditionsOf(request), condition] } };
}

/** Why a request is none for a kubelet's client certificate; undefined when it is one. */
export function kubeletClientProblem(asked: RequestedCertificate, usages: readonly string[]): string | undefined {
  if (!isForNodes(asked)) return 'subject organization is not system:nodes';
  if (asked.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (asked.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (asked.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (asked.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!isNamedAsNode(asked)) return 'subject common name does not begin with system:node:';
  return usagesProblem(usages, 'client auth');
}

/** Why a request is none for the certificate that a kubelet serves with; undefined when it is one. */
export function kubeletServingProblem(asked: RequestedCertificate, usages: readonly string[]): string | undefined {
  if (!isForNodes(asked)) return 'subject organization is not system:nodes';
  if (asked.dnsNames.length === 0 && asked.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (asked.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (asked.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return (
    usagesProblem(usages, 'server auth') ?? (isNamedAsNode(asked) ? undefined : 'subject common name does not begin with system:node:')
  );
}

function isForNodes({ subject: { organizations } }: RequestedCertificate): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes';
}

function isNamedAsNode({ subject: { commonName } }: RequestedCertificate): boolean {
  return commonName.startsWith('system:node:');
}

/** Key encipherment is for RSA keys only, so it may be left out. */
function usagesProblem(usages: readonly string[], purpose: 'client auth' | 'server auth'): string | undefined {
  const asked = new Set(usages);
  asked.delete('key encipherment');
  const isRight = asked.size === 2 && asked.has('digital signature') && asked.has(purpose);
  return isRight ? undefined : `usages did not match [${[purpose, 'digital signature', 'key encipherment'].sort().join(' ')}]`;
}

/** Why a request is none for a client of the API; undefined when it is one. */
export function apiClientProblem(usages: readonly string[]): string | undefined {
  const foreign = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (foreign !== undefined) return `invalid usage for client certificate: ${foreign}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}
