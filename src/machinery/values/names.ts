import { FieldError } from '../errors/field-error.ts';
import type { Path } from '../errors/field-path.ts';

/**
 * Validation of names. Each check returns error messages in the API's words, or an empty shared list, so that checking a valid name allocates
 * nothing.
 */
export type Problems = readonly string[];

const NONE: Problems = Object.freeze([]);

/** Two generations of upstream's checks use different words. */
export type LengthUnit = 'characters' | 'bytes';

export const DNS1123_LABEL_MAX_LENGTH = 63;
export const DNS1123_SUBDOMAIN_MAX_LENGTH = 253;
export const LABEL_VALUE_MAX_LENGTH = 63;

export function maxLengthText(max: number, unit: LengthUnit = 'characters'): string {
  return `must be no more than ${max} ${unit}`;
}

export function inclusiveRangeText(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

export const EMPTY_TEXT = 'must be non-empty';
export const NEGATIVE_TEXT = 'must be greater than or equal to 0';

/** The explanation of a failed regular expression, with examples of what would pass. */
export function regexText(message: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  const list = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${list}regex used for validation is '${pattern}')`;
}

interface Rule {
  readonly regexp: RegExp;
  /** What is wrong with a value that does not match. */
  readonly explanation: string;
}

function rule(pattern: string, message: string, ...examples: readonly string[]): Rule {
  // bounded: no pattern of RULES repeats the same characters twice without another in between.
  // bounded: spread lists are names in the source
  return { regexp: new RegExp(`^${pattern}$`), explanation: regexText(message, pattern, ...examples) };
}

interface Limits {
  readonly maxLength?: number;
  readonly unit?: LengthUnit;
}

function check(value: string, checked: Rule, { maxLength = Number.POSITIVE_INFINITY, unit = 'characters' }: Limits = {}): Problems {
  const fits = checked.regexp.test(value);
  const short = utf8LengthWithin(value, maxLength);
  if (fits && short) return NONE;
  return [...(short ? [] : [maxLengthText(maxLength, unit)]), ...(fits ? [] : [checked.explanation])];
}

/** Whether a text's UTF-8 form has at most `max` bytes. Counts only when it could matter. */
export function utf8LengthWithin(value: string, max: number): boolean {
  if (value.length > max) return false;
  return value.length * 3 <= max || Buffer.byteLength(value) <= max;
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const LABEL_UNDERSCORE = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const RULES = {
  label: rule(
    LABEL,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    'my-name',
    '123-abc',
  ),
  subdomain: rule(
    SUBDOMAIN,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    'example.com',
  ),
  subdomainUnderscore: rule(
    `${LABEL_UNDERSCORE}(\\.${LABEL_UNDERSCORE})*`,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
    'example.com',
  ),
  dns1035: rule(
    '[a-z]([-a-z0-9]*[a-z0-9])?',
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    'my-name',
    'abc-123',
  ),
  wildcard: rule(
    `\\*\\.${SUBDOMAIN}`,
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    '*.example.com',
  ),
  qualified: rule(
    QUALIFIED,
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    'MyName',
    'my.name',
    '123-abc',
  ),
  labelValue: rule(
    `(${QUALIFIED})?`,
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    'MyValue',
    'my_value',
    '12345',
  ),
  cIdentifier: rule(
    '[A-Za-z_][A-Za-z0-9_]*',
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
    'my_name',
    'MY_NAME',
    'MyName',
  ),
  percent: rule('[0-9]+%', "a valid percent string must be a numeric string followed by an ending '%'", '1%', '93%'),
  httpHeader: rule('[-A-Za-z0-9]+', "a valid HTTP header must consist of alphanumeric characters or '-'", 'X-Header-Name'),
  envVar: rule(
    '[-._a-zA-Z][-._a-zA-Z0-9]*',
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
    'my.env-name',
    'MY_ENV.NAME',
    'MyEnvName1',
  ),
  configMapKey: rule(
    '[-._a-zA-Z0-9]+',
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    'key.name',
    'KEY_NAME',
    'key-name',
  ),
  httpPath: rule("[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+", 'Invalid path'),
} as const;

const SUBDOMAIN_CASELESS: Rule = {
  // bounded: as in RULES.
  regexp: new RegExp(`^${SUBDOMAIN}$`, 'i'),
  explanation: regexText(
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    SUBDOMAIN,
    'Example.com',
  ),
};

/** A DNS label (RFC 1123), such as a namespace's name. */
export function checkDns1123Label(value: string, unit: LengthUnit = 'characters'): Problems {
  const problems = check(value, RULES.label, { maxLength: DNS1123_LABEL_MAX_LENGTH, unit });
  if (problems.length === 0 || RULES.label.regexp.test(value) || !RULES.subdomain.regexp.test(value)) return problems;
  return [...problems.slice(0, -1), 'must not contain dots'];
}

/** A DNS subdomain (RFC 1123): what most names are. */
export function checkDns1123Subdomain(value: string, unit: LengthUnit = 'characters'): Problems {
  return check(value, RULES.subdomain, { maxLength: DNS1123_SUBDOMAIN_MAX_LENGTH, unit });
}

export function checkDns1123SubdomainWithUnderscore(value: string): Problems {
  return check(value, RULES.subdomainUnderscore, { maxLength: DNS1123_SUBDOMAIN_MAX_LENGTH });
}

/** As a subdomain, but upper case is allowed (driver names). */
export function checkDns1123SubdomainCaseless(value: string, unit: LengthUnit = 'bytes'): Problems {
  return check(value, SUBDOMAIN_CASELESS, { maxLength: DNS1123_SUBDOMAIN_MAX_LENGTH, unit });
}

/** A DNS label that starts with a letter (RFC 1035), such as a service's name. */
export function checkDns1035Label(value: string): Problems {
  return check(value, RULES.dns1035, { maxLength: 63 });
}

/** `*.example.com`. */
export function checkWildcardDns1123Subdomain(value: string): Problems {
  return check(value, RULES.wildcard, { maxLength: DNS1123_SUBDOMAIN_MAX_LENGTH });
}

/** What nearly all label keys look like. */
const PLAIN_KEY = /^(?:[a-z0-9]+(?:[.-][a-z0-9]+)*\/)?[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/;

/** A label key: a name with an optional DNS subdomain and slash before it. Also called a qualified name. */
export function checkLabelKey(value: string): Problems {
  if (value.length <= 63 && PLAIN_KEY.test(value)) return NONE;
  const slash = value.indexOf('/');
  if (slash < 0) return checkQualifiedPart(value);
  if (value.indexOf('/', slash + 1) >= 0) return [tooManySlashes()];
  const prefix = checkPrefixPart(value.slice(0, slash));
  const name = checkQualifiedPart(value.slice(slash + 1));
  return prefix.length === 0 ? name : [...prefix, ...name];
}

export const checkQualifiedName = checkLabelKey;

function checkPrefixPart(prefix: string): Problems {
  if (prefix === '') return [`prefix part ${EMPTY_TEXT}`];
  const problems = checkDns1123Subdomain(prefix, 'bytes');
  return problems.length === 0 ? NONE : problems.map((problem) => `prefix part ${problem}`);
}

function checkQualifiedPart(name: string): Problems {
  const problems = check(name, RULES.qualified, { maxLength: 63, unit: 'bytes' });
  if (problems.length === 0) return NONE;
  return [...(name === '' ? [EMPTY_TEXT] : []), ...problems].map((problem) => `name part ${problem}`);
}

function tooManySlashes(): string {
  return `a valid label key ${RULES.qualified.explanation} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
}

export function checkLabelValue(value: string): Problems {
  return check(value, RULES.labelValue, { maxLength: LABEL_VALUE_MAX_LENGTH, unit: 'bytes' });
}

export function checkCIdentifier(value: string): Problems {
  return check(value, RULES.cIdentifier);
}

export function checkPercent(value: string): Problems {
  return check(value, RULES.percent);
}

export function checkHttpHeaderName(value: string): Problems {
  return check(value, RULES.httpHeader);
}

export function checkInRange(value: number, low: number, high: number): Problems {
  return value >= low && value <= high ? NONE : [inclusiveRangeText(low, high)];
}

export function checkPortNumber(port: number): Problems {
  return checkInRange(port, 1, 65535);
}

const MAX_INT32 = 2 ** 31 - 1;

/** A Unix user or group id. */
export function checkUnixId(id: number): Problems {
  return checkInRange(id, 0, MAX_INT32);
}

/** The name of a port (RFC 6335). */
export function checkPortName(port: string): Problems {
  const problems: string[] = [];
  if (!utf8LengthWithin(port, 15)) problems.push(maxLengthText(15));
  if (!/^[-a-z0-9]+$/.test(port)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(port)) problems.push('must contain at least one letter (a-z)');
  if (port.includes('--')) problems.push('must not contain consecutive hyphens');
  if (port.startsWith('-') || port.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems.length === 0 ? NONE : problems;
}

export function checkEnvVarName(value: string): Problems {
  return join(check(value, RULES.envVar), checkChangesDirectory(value));
}

/** Anything printable in ASCII but `=`. */
export function checkRelaxedEnvVarName(value: string): Problems {
  if (value === '') return [`environment variable name ${EMPTY_TEXT}`];
  if (/^[ -<>-~]+$/.test(value)) return NONE;
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** A key in a ConfigMap or Secret: it must also be a file's name. */
export function checkConfigMapKey(value: string): Problems {
  return join(check(value, RULES.configMapKey, { maxLength: DNS1123_SUBDOMAIN_MAX_LENGTH }), checkChangesDirectory(value));
}

function checkChangesDirectory(value: string): Problems {
  if (!value.startsWith('.')) return NONE;
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : NONE;
}

function join(first: Problems, second: Problems): Problems {
  if (second.length === 0) return first;
  return first.length === 0 ? second : [...first, ...second];
}

/** A name that can stand in a URL's path as it is. */
export function checkPathSegmentName(name: string): Problems {
  return name === '.' || name === '..' ? [`may not be '${name}'`] : checkPathSegmentPrefix(name);
}

export function checkPathSegmentPrefix(name: string): Problems {
  const problems = ['/', '%'].filter((bad) => name.includes(bad)).map((bad) => `may not contain '${bad}'`);
  return problems.length === 0 ? NONE : problems;
}

export function checkDecimalInteger(value: string): Problems {
  if (value === '') return [EMPTY_TEXT];
  return /^(0|-?[1-9][0-9]*)$/.test(value) ? NONE : [DECIMAL_INTEGER_TEXT];
}

const DECIMAL_INTEGER_TEXT = 'must be a valid decimal integer in canonical form';

export function checkUuid(value: string): Problems {
  const valid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
  return valid ? NONE : ['must be a lowercase UUID in 8-4-4-4-12 format'];
}

/** A kind's name validation. With `prefix` (generateName) the name may end in a dash, since a suffix is appended. */
export type NameCheck = (name: string, prefix: boolean) => Problems;

export const nameIsDnsSubdomain: NameCheck = (name, prefix) => checkDns1123Subdomain(prefix ? maskTrailingDash(name) : name);
export const nameIsDnsLabel: NameCheck = (name, prefix) => checkDns1123Label(prefix ? maskTrailingDash(name) : name);
export const nameIsDns1035Label: NameCheck = (name, prefix) => checkDns1035Label(prefix ? maskTrailingDash(name) : name);
export const nameIsPathSegment: NameCheck = (name, prefix) => (prefix ? checkPathSegmentPrefix(name) : checkPathSegmentName(name));

function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

/** At least three segments: `a.b.c`. */
export function validateFullyQualifiedName(path: Path, name: string): FieldError[] {
  if (name === '') return [FieldError.required(path)];
  const problems = checkDns1123Subdomain(name);
  if (problems.length > 0) return [FieldError.invalid(path, name, problems.join(','))];
  if (name.split('.').length >= 3) return [];
  return [FieldError.invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

/** At least two segments, each a DNS label; a trailing dot is accepted. */
export function validateFullyQualifiedDomainName(path: Path, value: string): FieldError[] {
  if (value === '') return [FieldError.required(path)];
  const name = value.endsWith('.') ? value.slice(0, -1) : value;
  const problems = checkDns1123Subdomain(name);
  if (problems.length > 0) return [FieldError.invalid(path, name, problems.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) return [FieldError.invalid(path, name, 'should be a domain with at least two segments separated by dots')];
  const bad = labels.find((label) => checkDns1123Label(label).length > 0);
  return bad === undefined ? [] : [FieldError.invalid(path, bad, checkDns1123Label(bad).join(','))];
}

/** `acme.io/foo`: a domain, a slash and an HTTP path. */
export function validateDomainPrefixedPath(path: Path, value: string): FieldError[] {
  if (value === '') return [FieldError.required(path)];
  const slash = value.indexOf('/');
  if (slash <= 0 || slash === value.length - 1) {
    return [FieldError.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const host = value.slice(0, slash);
  const rest = value.slice(slash + 1);
  const errors = checkDns1123Subdomain(host).map((problem) => FieldError.invalid(path, host, problem));
  if (!RULES.httpPath.regexp.test(rest)) errors.push(FieldError.invalid(path, rest, RULES.httpPath.explanation));
  return errors;
}

/** `acme.io/foo` where both parts follow the rules of a label key. */
export function validateDomainPrefixedKey(path: Path, key: string): FieldError[] {
  if (key === '') return [FieldError.required(path)];
  const errors = checkLabelKey(key).map((problem) => FieldError.invalid(path, key, problem));
  if (errors.length > 0 || key.includes('/')) return errors;
  return [FieldError.invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')];
}
