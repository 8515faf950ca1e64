import { X509Certificate } from 'node:crypto';
import { checkRequestSignature, DerError, pemBlocks, pushAll } from '#base';
import { checkDns1123Label, checkDns1123Subdomain, diffText, FieldError, goQuote, itemErrors, Path, type Problems } from '#machinery';
import { markDuplicates, sameValue, supportedValue } from '../../field-checks.ts';
import { goStruct } from '../../go-struct.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { type CertificateSigningRequest, CertificateSigningRequestCondition } from './certificate-signing-request.ts';
import { readSigningRequest } from './read-signing-request.ts';

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const MIN_EXPIRATION = 600;
const DECISIONS = ['Approved', 'Denied'];
const TRUE_ONLY = [...DECISIONS, 'Failed'];
const STATUSES = ['False', 'True', 'Unknown'];
const SPEC = Path.of('spec');
const CONDITIONS = Path.of('status', 'conditions');
const CERTIFICATE = Path.of('status', 'certificate');
const META = { namespaced: false, nameRule: (): Problems => [] };

/** Values of the stored request that newer rules would reject, and what the current subresource may change. */
interface Rules {
  readonly setsApproval?: boolean;
  readonly setsCertificate?: boolean;
  readonly old?: CertificateSigningRequest;
}

export function validateCertificateSigningRequest(request: CertificateSigningRequest): FieldError[] {
  return validateRequest(request, {});
}

export function validateCertificateSigningRequestUpdate(request: CertificateSigningRequest, old: CertificateSigningRequest): FieldError[] {
  return validateUpdate(request, old, {});
}

export function validateCertificateSigningRequestStatusUpdate(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
): FieldError[] {
  return validateUpdate(request, old, { setsCertificate: true });
}

export function validateCertificateSigningRequestApproval(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
): FieldError[] {
  return validateUpdate(request, old, { setsApproval: true });
}

function validateRequest(request: CertificateSigningRequest, { old }: Rules): FieldError[] {
  const { metadata, spec, status } = request;
  const errors = validateObjectMeta(metadata, META);
  const problem = requestProblem(spec?.request ?? '');
  if (problem) errors.push(FieldError.invalid(SPEC.child('request'), spec?.request ?? null, problem));
  pushAll(errors, validateUsages(spec?.usages ?? [], old?.spec?.usages ?? []));
  pushAll(errors, validateSigner(SPEC.child('signerName'), spec?.signerName ?? '', old?.spec?.signerName));
  const seconds = spec?.expirationSeconds;
  if (seconds !== undefined && seconds < MIN_EXPIRATION) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(FieldError.invalid(SPEC.child('expirationSeconds'), seconds, detail));
  }
  pushAll(errors, validateConditions(status?.conditions ?? [], old?.status?.conditions ?? []));
  const isOldCertificate = old !== undefined && (status?.certificate ?? '') === (old.status?.certificate ?? '');
  const bad = isOldCertificate ? undefined : certificateProblem(status?.certificate ?? '');
  return bad ? [...errors, FieldError.invalid(CERTIFICATE, '<certificate data>', bad)] : errors;
}

function requestProblem(base64: string): string | undefined {
  try {
    checkRequestSignature(readSigningRequest(base64));
    return undefined;
  } catch (error) {
    if (error instanceof DerError) return error.message;
    throw error;
  }
}

function validateUsages(usages: readonly string[], old: readonly string[]): FieldError[] {
  const path = SPEC.child('usages');
  const errors = usages.length === 0 ? [FieldError.required(path)] : [];
  if (old.every((usage) => USAGES.includes(usage))) {
    for (const error of itemErrors(usages, (usage, i) => supportedValue(path.index(i), usage, USAGES))) errors.push(error);
  }
  if (new Set(old).size < old.length) return errors;
  const repeated = markDuplicates(usages);
  return [...errors, ...itemErrors(usages, (usage, i) => (repeated[i] ? [FieldError.duplicate(path.index(i), usage)] : []))];
}

/** A signer's name is a domain and a path, such as example.com/signer-name. */
function validateSigner(path: Path, name: string, old: string | undefined): FieldError[] {
  if (name === LEGACY_SIGNER && old !== LEGACY_SIGNER) {
    return [FieldError.invalid(path, name, 'the legacy signerName is not allowed via this API version')];
  }
  return validateSignerName(path, name);
}

export function validateSignerName(path: Path, name: string): FieldError[] {
  if (name === '') return [FieldError.required(path)];
  const [domain = '', signer = '', ...rest] = name.split('/');
  if (!name.includes('/') || rest.length > 0) {
    return [FieldError.invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  const errors = domain.length > 253 ? [FieldError.tooLong(path, 253)] : [];
  pushAll(errors, validateSegment(path, domain, checkDns1123Label));
  if (!domain.includes('.')) {
    errors.push(FieldError.invalid(path, domain, 'should be a domain with at least two segments separated by dots'));
  }
  pushAll(errors, validateSegment(path, signer, checkDns1123Subdomain));
  const maxLength = 253 + 253 + 63 + 1 + 1;
  return name.length > maxLength ? [...errors, FieldError.tooLong(path, maxLength)] : errors;
}

/** Only the first bad label is reported. */
function validateSegment(path: Path, segment: string, check: (label: string) => Problems): FieldError[] {
  const bad = segment.split('.').find((label) => check(label).length > 0);
  if (bad === undefined) return [];
  return check(bad).map((problem) => FieldError.invalid(path, segment, `validating label ${goQuote(bad)}: ${problem}`));
}

type Conditions = readonly CertificateSigningRequestCondition[];

function has(conditions: Conditions, type: string): boolean {
  return conditions.some((condition) => condition.type === type);
}

function validateConditions(conditions: Conditions, old: Conditions): FieldError[] {
  const types = (list: Conditions) => list.map(({ type }) => type);
  const mayRepeat = new Set(types(old)).size < old.length;
  const mayContradict = has(old, 'Approved') && has(old, 'Denied');
  const before = new Set<string>();
  return itemErrors(conditions, ({ type = '', status = '' }, i) => {
    const path = CONDITIONS.index(i);
    const isRepeated = before.has(type);
    const opposite = type === 'Approved' ? 'Denied' : 'Approved';
    const contradicts = DECISIONS.includes(type) && before.has(opposite) && !mayContradict;
    before.add(type);
    const allowed = TRUE_ONLY.includes(type) ? ['True'] : STATUSES;
    return [
      ...(type === '' && !has(old, '') ? [FieldError.required(path.child('type'))] : []),
      ...(status === '' ? [FieldError.required(path.child('status'))] : supportedValue(path.child('status'), status, allowed)),
      ...(contradicts ? [FieldError.invalid(CONDITIONS, type, 'Approved and Denied conditions are mutually exclusive')] : []),
      ...(isRepeated && !mayRepeat ? [FieldError.duplicate(path.child('type'), type)] : []),
    ];
  });
}

function certificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const blocks = [...pemBlocks(Buffer.from(base64, 'base64').toString('latin1'))];
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${goQuote(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

function isCertificate(bytes: Uint8Array): boolean {
  try {
    new X509Certificate(bytes);
    return true;
  } catch {
    return false;
  }
}

function validateUpdate(request: CertificateSigningRequest, old: CertificateSigningRequest, rules: Rules): FieldError[] {
  return [
    ...validateRequest(request, { ...rules, old }),
    ...validateRemovals(request, old),
    ...(rules.setsApproval ? [] : validateDecisions(request, old)),
    ...validateCertificateChange(request, old, rules),
    ...validateObjectMetaUpdate(request.metadata, old.metadata),
  ];
}

function ofType({ status }: CertificateSigningRequest, type: string): Conditions {
  return (status?.conditions ?? []).filter((condition) => condition.type === type);
}

function validateRemovals(request: CertificateSigningRequest, old: CertificateSigningRequest): FieldError[] {
  const removed = TRUE_ONLY.filter((type) => ofType(request, type).length < ofType(old, type).length);
  return removed.map((type) => FieldError.forbidden(CONDITIONS, `updates may not remove a condition of type ${goQuote(type)}`));
}

/** Conditions are only changed through the approval subresource. */
function validateDecisions(request: CertificateSigningRequest, old: CertificateSigningRequest): FieldError[] {
  return DECISIONS.flatMap((type) => {
    const before = ofType(old, type);
    const after = ofType(request, type);
    if (after.length > before.length) {
      return [FieldError.forbidden(CONDITIONS, `updates may not add a condition of type ${goQuote(type)}`)];
    }
    if (after.length < before.length || sameValue(before, after)) return [];
    const printed = (list: Conditions) => list.map((condition) => goStruct(CertificateSigningRequestCondition, condition));
    const difference = diffText(printed(before), printed(after));
    return [FieldError.forbidden(CONDITIONS, `updates may not modify a condition of type ${goQuote(type)}\n${difference}`)];
  });
}

function validateCertificateChange(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
  { setsCertificate }: Rules,
): FieldError[] {
  const before = old.status?.certificate ?? '';
  if ((request.status?.certificate ?? '') === before) return [];
  if (!setsCertificate) return [FieldError.forbidden(CERTIFICATE, 'updates may not set certificate content')];
  return before === '' ? [] : [FieldError.forbidden(CERTIFICATE, 'updates may not modify existing certificate content')];
}
