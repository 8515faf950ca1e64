import { goQuote } from '../../values/go-format.ts';
import { type CelLibrary, declare, method, overload } from '../check/declarations.ts';
import { BOOL, INT, opaqueType, STRING } from '../types.ts';
import { CelObject, type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';
import { type IpAddress, type IpPrefix, NetipError, parseAddress, parsePrefix } from './go-netip.ts';

export const IP_TYPE = opaqueType('net.IP');
export const CIDR_TYPE = opaqueType('net.CIDR');

export class IpValue extends CelObject {
  readonly type = IP_TYPE;
  readonly address: IpAddress;

  constructor(address: IpAddress) {
    super();
    this.address = address;
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof IpValue)) throw noSuchOverload();
    return this.address.equals(other.address);
  }

  override get costSize(): number {
    return this.address.bytes.length;
  }

  override toJson(): string {
    return this.address.toString();
  }
}

export class CidrValue extends CelObject {
  readonly type = CIDR_TYPE;
  readonly prefix: IpPrefix;

  constructor(prefix: IpPrefix) {
    super();
    this.prefix = prefix;
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CidrValue)) throw noSuchOverload();
    return this.prefix.bits === other.prefix.bits && this.prefix.address.equals(other.prefix.address);
  }

  override get costSize(): number {
    return Math.ceil(this.prefix.bits / 8);
  }

  override toJson(): string {
    return this.prefix.toString();
  }
}

function toIp(text: string): IpValue {
  const address = explaining(
    () => parseAddress(text),
    (problem) => `IP Address ${goQuote(text)} parse error during conversion from string: ${problem}`,
  );
  if (address.zone !== '') throw new EvalFailure(`IP address ${goQuote(text)} with zone value is not allowed`);
  if (address.isV4InV6) throw new EvalFailure(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new IpValue(address);
}

const CIDR_PROBLEM = 'network address parse error during conversion from string';

// Upstream says it twice.
function toCidr(text: string): CidrValue {
  const prefix = explaining(
    () => parsePrefix(text),
    (problem) => `${CIDR_PROBLEM}: ${CIDR_PROBLEM}: ${problem}`,
  );
  if (prefix.address.isV4InV6) throw new EvalFailure(`${CIDR_PROBLEM}: IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new CidrValue(prefix);
}

function explaining<T>(parse: () => T, explain: (problem: string) => string): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof NetipError ? new EvalFailure(explain(error.message)) : error;
  }
}

function succeeds(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (error instanceof EvalFailure) return false;
    throw error;
  }
}

const IP_TO_BOOL = { args: [IP_TYPE], result: BOOL };
const TEXT_TO_BOOL = { args: [STRING], result: BOOL };

export const IP_LIBRARY: CelLibrary = {
  types: [IP_TYPE],
  functions: [
    declare('ip', overload('string_to_ip', { args: [STRING], result: IP_TYPE }, toIp)),
    declare(
      'family',
      method('ip_family', { args: [IP_TYPE], result: INT }, ({ address }: IpValue) => (address.isV4 ? 4 : 6)),
    ),
    declare(
      'ip.isCanonical',
      overload('ip_is_canonical', TEXT_TO_BOOL, (text: string) => toIp(text).address.toString() === text),
    ),
    declare(
      'isUnspecified',
      method('ip_is_unspecified', IP_TO_BOOL, ({ address }: IpValue) => address.isUnspecified),
    ),
    declare(
      'isLoopback',
      method('ip_is_loopback', IP_TO_BOOL, ({ address }: IpValue) => address.isLoopback),
    ),
    declare(
      'isLinkLocalMulticast',
      method('ip_is_link_local_multicast', IP_TO_BOOL, ({ address }: IpValue) => address.isLinkLocalMulticast),
    ),
    declare(
      'isLinkLocalUnicast',
      method('ip_is_link_local_unicast', IP_TO_BOOL, ({ address }: IpValue) => address.isLinkLocalUnicast),
    ),
    declare(
      'isGlobalUnicast',
      method('ip_is_global_unicast', IP_TO_BOOL, ({ address }: IpValue) => address.isGlobalUnicast),
    ),
    declare(
      'isIP',
      overload('is_ip', TEXT_TO_BOOL, (text: string) => succeeds(() => toIp(text))),
    ),
    declare(
      'string',
      overload('ip_to_string', { args: [IP_TYPE], result: STRING }, ({ address }: IpValue) => address.toString()),
    ),
  ],
};

function containsIp({ prefix }: CidrValue, { address }: IpValue): boolean {
  return prefix.contains(address);
}

function containsCidr({ prefix }: CidrValue, other: CidrValue): boolean {
  return prefix.containsPrefix(other.prefix);
}

export const CIDR_LIBRARY: CelLibrary = {
  types: [CIDR_TYPE],
  functions: [
    declare('cidr', overload('string_to_cidr', { args: [STRING], result: CIDR_TYPE }, toCidr)),
    declare(
      'containsIP',
      method('cidr_contains_ip_string', { args: [CIDR_TYPE, STRING], result: BOOL }, (cidr: CidrValue, text: string) =>
        containsIp(cidr, toIp(text)),
      ),
      method('cidr_contains_ip_ip', { args: [CIDR_TYPE, IP_TYPE], result: BOOL }, containsIp),
    ),
    declare(
      'containsCIDR',
      method('cidr_contains_cidr_string', { args: [CIDR_TYPE, STRING], result: BOOL }, (cidr: CidrValue, text: string) =>
        containsCidr(cidr, toCidr(text)),
      ),
      method('cidr_contains_cidr', { args: [CIDR_TYPE, CIDR_TYPE], result: BOOL }, containsCidr),
    ),
    declare(
      'ip',
      method('cidr_ip', { args: [CIDR_TYPE], result: IP_TYPE }, ({ prefix }: CidrValue) => new IpValue(prefix.address)),
    ),
    declare(
      'prefixLength',
      method('cidr_prefix_length', { args: [CIDR_TYPE], result: INT }, ({ prefix }: CidrValue) => prefix.bits),
    ),
    declare(
      'masked',
      method('cidr_masked', { args: [CIDR_TYPE], result: CIDR_TYPE }, ({ prefix }: CidrValue) => new CidrValue(prefix.masked)),
    ),
    declare(
      'isCIDR',
      overload('is_cidr', TEXT_TO_BOOL, (text: string) => succeeds(() => toCidr(text))),
    ),
    declare(
      'string',
      overload('cidr_to_string', { args: [CIDR_TYPE], result: STRING }, ({ prefix }: CidrValue) => prefix.toString()),
    ),
  ],
};
