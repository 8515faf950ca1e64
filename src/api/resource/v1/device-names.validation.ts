import { checkCIdentifier, checkDns1123Label, checkDns1123Subdomain, goQuote } from '#machinery';
import { validateCSIDriverName } from '../../core/v1/volume/volume-source.validation.ts';
import type { FieldReport } from '../../field-report.ts';

const MAX_POOL_NAME = 253;
const MAX_ID_LENGTH = 32;
const MAX_DOMAIN_LENGTH = 63;

/** The maximum length of attribute and capacity names in error paths. */
export const SHOWN_NAME = MAX_DOMAIN_LENGTH + 1 + MAX_ID_LENGTH;

/** Driver names have the same rules as those of CSI drivers. */
export const validateDriverName = validateCSIDriverName;

export function validateLabelLike(name: string | undefined, at: FieldReport): void {
  at.problems(name ?? '', checkDns1123Label(name ?? ''));
}

export function validateClassName(name: string | undefined, at: FieldReport): void {
  if (name) at.problems(name, checkDns1123Subdomain(name));
  else at.required();
}

export function validatePoolName(name: string | undefined, at: FieldReport): void {
  if (!name) {
    at.required();
    return;
  }
  if (Buffer.byteLength(name) > MAX_POOL_NAME) at.tooLong(MAX_POOL_NAME);
  for (const part of name.split('/')) at.problems(part, checkDns1123Subdomain(part));
}

/** A name with an optional domain. More than one slash is accepted, as upstream. */
export function validateQualifiedName(name: string, at: FieldReport): void {
  const [first = '', second, ...rest] = name.split('/');
  if (second === undefined) validateIdentifier(first, at);
  if (second === undefined || rest.length > 0) return;
  if (first === '') at.invalid('', 'the domain must not be empty');
  else validateDriverName(first, at);
  if (second === '') at.invalid('', 'the name must not be empty');
  else validateIdentifier(second, at);
}

export function validateFullName(name: string, at: FieldReport): void {
  validateQualifiedName(name, at);
  if (!name.includes('/')) at.invalid(name, 'a fully qualified name must be a domain and a name separated by a slash');
}

function validateIdentifier(id: string, at: FieldReport): void {
  if (Buffer.byteLength(id) > MAX_ID_LENGTH) at.tooLong(MAX_ID_LENGTH);
  at.problems(id, checkCIdentifier(id));
}

const NORMAL_FORM = 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';

export function validateShareId(id: string, at: FieldReport): void {
  const problem = uuidProblem(id);
  if (problem) at.invalid(id, `error validating uid: ${problem}`);
  else if (id.length !== UUID_LENGTH || id !== id.toLowerCase()) at.invalid(id, NORMAL_FORM);
}

const UUID_LENGTH = 36;
const URN = 'urn:uuid:';
const DASHED = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PLAIN = /^[0-9a-f]{32}$/i;

/** Any notation of a UUID is parsed first; then only the length matters. */
function uuidProblem(id: string): string | undefined {
  const length = Buffer.byteLength(id);
  switch (length) {
    case UUID_LENGTH:
      return formatProblem(DASHED.test(id));
    case UUID_LENGTH + URN.length:
      if (id.slice(0, URN.length).toLowerCase() !== URN) return `invalid urn prefix: ${goQuote(id.slice(0, URN.length))}`;
      return formatProblem(DASHED.test(id.slice(URN.length)));
    case UUID_LENGTH + 2:
      if (!id.startsWith('{') || !id.endsWith('}')) return 'invalid bracketed UUID format';
      return formatProblem(DASHED.test(id.slice(1, -1)));
    case 32:
      return formatProblem(PLAIN.test(id));
    default:
      return `invalid UUID length: ${length}`;
  }
}

function formatProblem(isValid: boolean): string | undefined {
  return isValid ? undefined : 'invalid UUID format';
}
