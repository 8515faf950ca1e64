import { formatIp, parseIp } from '#base';

const IPV4_SUFFIX = '.in-addr.arpa';
const IPV6_SUFFIX = '.ip6.arpa';

export function isReverseName(name: string): boolean {
  return name.endsWith(IPV4_SUFFIX) || name.endsWith(IPV6_SUFFIX);
}

/** The address of a name below `in-addr.arpa` or `ip6.arpa`, in canonical form; undefined for a partial one. */
export function addressFromReverseName(name: string): string | undefined {
  if (name.endsWith(IPV4_SUFFIX)) {
    const text = name.slice(0, -IPV4_SUFFIX.length).split('.').reverse().join('.');
    return parseIp(text) === undefined ? undefined : text;
  }
  const digits = name.slice(0, -IPV6_SUFFIX.length).split('.').reverse();
  if (digits.length !== 32 || digits.some((digit) => !/^[0-9a-f]$/.test(digit))) return undefined;
  const groups = Array.from({ length: 8 }, (_, i) => digits.slice(4 * i, 4 * i + 4).join(''));
  const address = parseIp(groups.join(':'));
  return address && formatIp(address);
}
