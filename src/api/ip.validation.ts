import { bitsOf, formatCidr, formatIp, type IpAddress, type IpNetwork, parseCidr, parseIp } from '#base';
import { FieldError, goQuote, type Path } from '#machinery';

const NONE: readonly FieldError[] = Object.freeze([]);
const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const NOT_A_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** An address in a field with legacy validation: any valid notation. The old object's addresses stay valid. */
export function validateLegacyIp(path: Path, value: string, allowed: readonly string[] = []): readonly FieldError[] {
  if (allowed.includes(value)) return NONE;
  const ip = parseIp(value);
  return ip ? validateSpelling(path, value, ip) : [FieldError.invalid(path, value, NOT_AN_IP)];
}

function validateSpelling(path: Path, value: string, ip: IpAddress): FieldError[] {
  const errors: FieldError[] = [];
  if (ip.leadingZeros) errors.push(FieldError.invalid(path, value, 'must not have leading 0s'));
  if (ip.mapped && !ip.leadingZeros) errors.push(FieldError.invalid(path, value, 'must not be an IPv4-mapped IPv6 address'));
  return errors;
}

/** An address in its canonical spelling. */
export function validateIp(path: Path, value: string): readonly FieldError[] {
  const errors = validateLegacyIp(path, value);
  const ip = parseIp(value);
  if (errors.length > 0 || !ip) return errors;
  const canonical = formatIp(ip);
  return value === canonical ? NONE : [FieldError.invalid(path, value, `must be in canonical form (${goQuote(canonical)})`)];
}

export function validateLegacyCidr(path: Path, value: string, allowed: readonly string[] = []): readonly FieldError[] {
  if (allowed.includes(value)) return NONE;
  const network = parseCidr(value);
  if (!network) return [FieldError.invalid(path, value, NOT_A_CIDR)];
  const problem = cidrProblem(network);
  return problem ? [FieldError.invalid(path, value, problem)] : NONE;
}

function cidrProblem({ leadingZeros, address, base }: IpNetwork): string | undefined {
  if (leadingZeros) return 'must not have leading 0s in IP or prefix length';
  if (address.mapped) return 'must not have an IPv4-mapped IPv6 address';
  return address.value === base ? undefined : 'must not have bits set beyond the prefix length';
}

export function validateCidr(path: Path, value: string): readonly FieldError[] {
  const errors = validateLegacyCidr(path, value);
  const network = parseCidr(value);
  if (errors.length > 0 || !network) return errors;
  const canonical = formatCidr(network);
  return value === canonical ? NONE : [FieldError.invalid(path, value, `must be in canonical form (${goQuote(canonical)})`)];
}

/** An interface address with its prefix length. */
export function validateInterfaceAddress(path: Path, value: string): readonly FieldError[] {
  const network = parseCidr(value);
  if (!network) return [FieldError.invalid(path, value, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')];
  const canonical = `${formatIp(network.address)}/${network.prefixLength}`;
  return value === canonical ? NONE : [FieldError.invalid(path, value, `must be in canonical form (${goQuote(canonical)})`)];
}

interface Range {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly prefixLength: number;
}

const LOOPBACK: readonly Range[] = [
  { family: 4, value: 127n << 24n, prefixLength: 8 },
  { family: 6, value: 1n, prefixLength: 128 },
];
const LINK_LOCAL: readonly Range[] = [
  { family: 4, value: 0xa9fen << 16n, prefixLength: 16 },
  { family: 6, value: 0xfe80n << 112n, prefixLength: 10 },
];

function isLinkLocalMulticast({ family, value }: IpAddress): boolean {
  return family === 4 ? value >> 8n === 224n << 16n : ((value >> 112n) & 0xff0fn) === 0xff02n;
}

function isIn(ip: IpAddress, ranges: readonly Range[]): boolean {
  return ranges.some(({ family, value, prefixLength }) => {
    const shift = BigInt(bitsOf(family) - prefixLength);
    return family === ip.family && ip.value >> shift === value >> shift;
  });
}

/** An address that may be an endpoint or an external IP: not loopback, link-local or unspecified. */
export function validateEndpointIp(path: Path, value: string): readonly FieldError[] {
  const ip = parseIp(value);
  if (!ip) return [FieldError.invalid(path, value, 'must be a valid IP address')];
  const errors: FieldError[] = [];
  const addError = (detail: string) => errors.push(FieldError.invalid(path, value, detail));
  if (ip.value === 0n) addError(`may not be unspecified (${value})`);
  if (isIn(ip, LOOPBACK)) addError('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (isIn(ip, LINK_LOCAL)) addError('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  if (isLinkLocalMulticast(ip)) addError('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  return errors;
}

/** The warning for a valid address in a non-canonical notation. */
export function ipWarnings(path: Path, value: string): readonly string[] {
  const ip = parseIp(value);
  if (!ip) return [];
  const canonical = goQuote(formatIp(ip));
  if (ip.leadingZeros || ip.mapped) return [`${path}: non-standard IP address ${goQuote(value)} is invalid: use ${canonical}`];
  if (ip.family === 4 || formatIp(ip) === value) return [];
  return [`${path}: IPv6 address ${goQuote(value)} should be in RFC 5952 canonical format (${canonical})`];
}

export function cidrWarnings(path: Path, value: string): readonly string[] {
  const network = parseCidr(value);
  if (!network) return [];
  const canonical = goQuote(formatCidr(network));
  const warnings: string[] = [];
  if (network.address.value !== network.base) {
    const single = goQuote(`${formatIp(network.address)}/${bitsOf(network.family)}`);
    warnings.push(`${path}: CIDR value ${goQuote(value)} is ambiguous in this context (should be ${canonical} or ${single}?)`);
  }
  if (network.leadingZeros || network.address.mapped) {
    warnings.push(`${path}: non-standard CIDR value ${goQuote(value)} is invalid: use ${canonical}`);
  }
  if (warnings.length === 0 && network.family === 6 && formatCidr(network) !== value) {
    warnings.push(`${path}: IPv6 CIDR value ${goQuote(value)} should be in RFC 5952 canonical format (${canonical})`);
  }
  return warnings;
}
