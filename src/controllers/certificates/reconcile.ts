import { X509Certificate } from 'node:crypto';
import type { authorization } from '#api';
import { decodePem, encodePem, lookupTable, type RequestedCertificate } from '#base';
import {
  apiClientProblem,
  conditionsOf,
  hasCondition,
  isIssued,
  kubeletClientProblem,
  kubeletServingProblem,
  requestedCertificate,
  SIGNERS,
  type SigningRequest,
} from './signing-request.ts';

// --- approving -----------------------------------------------------------------------------------------------------

/** A permission that suffices for automatic approval. */
export interface ApprovalRule {
  readonly right: authorization.ResourceAttributes;
  readonly message: string;
}

function rule(subresource: string, message: string): ApprovalRule {
  const right = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', verb: 'create', subresource, version: '*' };
  return { right, message };
}

const SELF_NODE_CLIENT = rule('selfnodeclient', 'Auto approving self kubelet client certificate after SubjectAccessReview.');
const NODE_CLIENT = rule('nodeclient', 'Auto approving kubelet client certificate after SubjectAccessReview.');

/** The permissions to check in order; empty if the request is not for a kubelet or is decided. */
export function approvalRules(request: SigningRequest): readonly ApprovalRule[] {
  if (isIssued(request) || conditionsOf(request).some(({ type }) => type === 'Approved' || type === 'Denied')) return [];
  if (request.spec.signerName !== SIGNERS.kubeletClient) return [];
  const requested = requestedCertificate(request);
  if (kubeletClientProblem(requested, request.spec.usages ?? []) !== undefined) return [];
  return requested.subject.commonName === request.spec.username ? [SELF_NODE_CLIENT, NODE_CLIENT] : [NODE_CLIENT];
}

// --- signing -------------------------------------------------------------------------------------------------------

export type SigningAction =
  | { readonly type: 'none' }
  | { readonly type: 'fail'; readonly message: string }
  | { readonly type: 'sign'; readonly requested: RequestedCertificate };

const PROBLEMS = lookupTable<(requested: RequestedCertificate, usages: readonly string[]) => string | undefined>({
  [SIGNERS.kubeletServing]: kubeletServingProblem,
  [SIGNERS.kubeletClient]: kubeletClientProblem,
  [SIGNERS.apiServerClient]: (_, usages) => apiClientProblem(usages),
  [SIGNERS.legacyUnknown]: () => undefined,
});

/** The action of a signer with keys for `signers`. */
export function signingAction(request: SigningRequest, signers: ReadonlySet<string>): SigningAction {
  const { signerName, usages = [] } = request.spec;
  const problemOf = PROBLEMS[signerName];
  const isKnownSigner = problemOf !== undefined && signers.has(signerName);
  if (!isKnownSigner || isIssued(request) || !isApproved(request) || hasCondition(request, 'Failed')) return { type: 'none' };
  const requested = requestedCertificate(request);
  const message = problemOf(requested, usages);
  return message === undefined ? { type: 'sign', requested } : { type: 'fail', message };
}

function isApproved(request: SigningRequest): boolean {
  const types = conditionsOf(request).map(({ type }) => type);
  return types.includes('Approved') && !types.includes('Denied');
}

const MIN_LIFETIME_MS = 10 * 60_000;

/** The requested lifetime, limited by the signer. */
export function lifetimeMs({ spec }: SigningRequest, longestMs: number): number {
  const seconds = spec.expirationSeconds;
  if (seconds === undefined || seconds === null) return longestMs;
  return Math.min(longestMs, Math.max(MIN_LIFETIME_MS, seconds * 1000));
}

// --- cleaning ------------------------------------------------------------------------------------------------------

const HOUR_MS = 3_600_000;
const DECIDED_MS = HOUR_MS;
const PENDING_MS = 24 * HOUR_MS;

/** Whether a request is decided, issued or pending for longer than it is kept. */
export function isOutdated(request: SigningRequest, now: number): boolean {
  const { creationTimestamp } = request.metadata ?? {};
  const conditions = conditionsOf(request);
  if (conditions.length === 0) return isOlder(creationTimestamp, PENDING_MS, now);
  return conditions.some(({ type, lastUpdateTime }) => {
    if (type === 'Denied' || type === 'Failed') return isOlder(lastUpdateTime, DECIDED_MS, now);
    if (type !== 'Approved') return false;
    if (!isIssued(request)) return isOlder(lastUpdateTime, PENDING_MS, now);
    return isOlder(lastUpdateTime, DECIDED_MS, now) || hasExpired(request, now);
  });
}

function isOlder(time: string | undefined | null, ageMs: number, now: number): boolean {
  return time !== undefined && time !== null && now - Date.parse(time) > ageMs;
}

function hasExpired({ status }: SigningRequest, now: number): boolean {
  const bytes = decodePem('CERTIFICATE', Buffer.from(status?.certificate ?? '', 'base64').toString('utf8'));
  try {
    return bytes !== undefined && now > Date.parse(new X509Certificate(encodePem('CERTIFICATE', bytes)).validTo);
  } catch {
    // An unparsable certificate has no expiry.
    return false;
  }
}
