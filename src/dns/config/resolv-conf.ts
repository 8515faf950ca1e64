import { parseIp } from '#base';

/** The name servers of a resolv.conf, in order. */
export function nameServersOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [keyword, address = ''] = line.trim().split(/[ \t]+/, 2);
    return keyword === 'nameserver' && parseIp(address.split('%', 1)[0] ?? '') !== undefined ? [address] : [];
  });
}
