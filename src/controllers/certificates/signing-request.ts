import { certificates } from '#api';
import type { RequestedCertificate } from '#base';

export type SigningRequest = certificates.CertificateSigningRequest;
type Condition = NonNullable<NonNullable<SigningRequest['status']>['conditions']>[number];

export const SIGNERS = {
  kubeletServing: 'kubernetes.io/kubelet-serving',
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  apiServerClient: 'kubernetes.io/kube-apiserver-client',
  legacyUnknown: 'kubernetes.io/legacy-unknown',
} as const;

/** Parses the certificate request. Throws if it is malformed. */
export function requestedCertificate({ spec }: SigningRequest): RequestedCertificate {
  return certificates.readSigningRequest(spec.request);
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

/** Why the request is not for a kubelet client certificate; undefined if it is. */
export function kubeletClientProblem(requested: RequestedCertificate, usages: readonly string[]): string | undefined {
  if (!isForNodes(requested)) return 'subject organization is not system:nodes';
  if (requested.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (requested.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (requested.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (requested.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!isNamedAsNode(requested)) return 'subject common name does not begin with system:node:';
  return usagesProblem(usages, 'client auth');
}

/** Why the request is not for a kubelet serving certificate; undefined if it is. */
export function kubeletServingProblem(requested: RequestedCertificate, usages: readonly string[]): string | undefined {
  if (!isForNodes(requested)) return 'subject organization is not system:nodes';
  if (requested.dnsNames.length === 0 && requested.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (requested.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (requested.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return (
    usagesProblem(usages, 'server auth') ?? (isNamedAsNode(requested) ? undefined : 'subject common name does not begin with system:node:')
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
  const usageSet = new Set(usages);
  usageSet.delete('key encipherment');
  const isRight = usageSet.size === 2 && usageSet.has('digital signature') && usageSet.has(purpose);
  return isRight ? undefined : `usages did not match [${[purpose, 'digital signature', 'key encipherment'].sort().join(' ')}]`;
}

/** Why the request is not for an API client; undefined if it is. */
export function apiClientProblem(usages: readonly string[]): string | undefined {
  const foreign = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (foreign !== undefined) return `invalid usage for client certificate: ${foreign}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}
