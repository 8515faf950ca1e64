import { checkDns1123Subdomain, checkLabelKey, type FieldError, nameIsDnsSubdomain, OMITTED, Path, type Problems } from '#machinery';
import { immutable, sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { validateConditions } from '../../meta/v1/condition.validation.ts';
import {
  ANNOTATIONS_SIZE_LIMIT,
  annotationsTooLong,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../meta/v1/object-meta.validation.ts';
import { validateSignerName } from '../v1/certificate-signing-request.validation.ts';
import { validateKey } from './pod-certificate-key.ts';
import type { PodCertificateRequest, PodCertificateRequestSpec, PodCertificateRequestStatus } from './pod-certificate-request.ts';
import { validateIssued } from './pod-certificate-status.validation.ts';

type Request = PodCertificateRequest;

const META = { namespaced: true, nameRule: nameIsDnsSubdomain };
const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const MAX_UID = 128;
const HOUR = 60 * 60;
const MAX_DAYS = 91;
const RESULTS: readonly string[] = ['Issued', 'Denied', 'Failed'];

export function validatePodCertificateRequest({ metadata, spec }: Request): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  const at = FieldReport.on(SPEC, errors);
  at.add(validateSignerName(SPEC.child('signerName'), spec.signerName ?? ''));
  validateUserAnnotations(spec.unverifiedUserAnnotations ?? {}, at.child('unverifiedUserAnnotations'));
  validateSubject(spec, at);
  if (validateLifetime(spec, at.child('maxExpirationSeconds'))) validateKey(spec, at);
  return errors;
}

export function validateUserAnnotations(annotations: Readonly<Record<string, string>>, at: FieldReport): void {
  for (const key of Object.keys(annotations).map((name) => name.toLowerCase())) {
    if (key === '') at.required();
    else at.problems(key, domainKeyProblems(key));
  }
  if (annotationsTooLong(annotations)) at.tooLong(ANNOTATIONS_SIZE_LIMIT);
}

function domainKeyProblems(key: string): Problems {
  const problems = checkLabelKey(key);
  if (problems.length > 0 || key.split('/').length === 2) return problems;
  return ['must be a domain-prefixed key (such as "acme.io/foo")'];
}

function validateSubject(spec: PodCertificateRequestSpec, at: FieldReport): void {
  for (const owner of ['pod', 'serviceAccount', 'node'] as const) {
    const name = spec[`${owner}Name`] ?? '';
    const uid = spec[`${owner}UID`] ?? '';
    at.child(`${owner}Name`).problems(name, checkDns1123Subdomain(name));
    if (uid === '') at.child(`${owner}UID`).invalid(uid, 'must not be empty');
    if (uid.length > MAX_UID) at.child(`${owner}UID`).tooLong(MAX_UID);
  }
}

/** Kubernetes' own signers are limited to a day. */
export function maxLifetimeSeconds(signerName: string): number {
  const domain = signerName.split('/', 1)[0] ?? '';
  const isOwn = domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io');
  return (isOwn ? 1 : MAX_DAYS) * 24 * HOUR;
}

function validateLifetime({ maxExpirationSeconds: seconds, signerName = '' }: PodCertificateRequestSpec, at: FieldReport): boolean {
  if (seconds === undefined) {
    at.required('must be set');
    return false;
  }
  const max = maxLifetimeSeconds(signerName);
  if (seconds < HOUR || seconds > max) at.invalid(seconds, `must be in the range [${HOUR}, ${max}]`);
  return true;
}

export function validatePodCertificateRequestUpdate({ metadata, spec }: Request, old: Request): FieldError[] {
  return [...validateObjectMetaUpdate(metadata, old.metadata), ...immutable(SPEC, { value: spec, old: old.spec })];
}

/** A signer responds once: with a certificate, or with a reason for denial or failure. */
export function validatePodCertificateRequestStatus(request: Request, old: Request): FieldError[] {
  const errors = validateObjectMetaUpdate(request.metadata, old.metadata);
  if (errors.length > 0) return errors;
  const status = request.status ?? {};
  const at = FieldReport.on(STATUS, errors);
  validateResults(status, at);
  at.add(validateConditions(status.conditions, STATUS.child('conditions')));
  if (errors.length > 0) return errors;
  const isSame = sameValue(status, old.status ?? {});
  if (resultOf(old.status) !== undefined) {
    if (!isSame) at.invalid(OMITTED, 'immutable after PodCertificateRequest is issued, denied, or failed');
    return errors;
  }
  const result = resultOf(status);
  if (result === 'Issued') validateIssued(status, old.spec, at);
  else if (result !== undefined) {
    const { conditions: _, ...others } = status;
    if (!sameValue(others, {}))
      at.invalid(OMITTED, 'non-condition status fields must be empty when denying or failing the PodCertificateRequest');
  } else if (!isSame) at.invalid(OMITTED, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
  return errors;
}

function resultOf(status: PodCertificateRequestStatus | undefined): string | undefined {
  return status?.conditions?.find(({ type, status: is }) => is === 'True' && RESULTS.includes(type))?.type;
}

function validateResults({ conditions = [] }: PodCertificateRequestStatus, at: FieldReport): void {
  let count = 0;
  for (const [i, { type, status }] of conditions.entries()) {
    // Upstream writes the index as a separate field.
    const item = at.child('conditions').child(`[${i}]`);
    if (!RESULTS.includes(type)) {
      item.child('type').notSupported(type, RESULTS);
      continue;
    }
    count++;
    if (count > 1) item.child('type').invalid(type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"');
    if (status !== 'True') item.child('status').notSupported(status, ['True']);
  }
}
