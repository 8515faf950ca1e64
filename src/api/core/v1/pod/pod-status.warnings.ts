import { Path } from '#machinery';
import { ipWarnings } from '../../../ip.validation.ts';
import type { Pod } from './pod.ts';

const POD_IPS = Path.of('status', 'podIPs');
const HOST_IPS = Path.of('status', 'hostIPs');

export function podStatusWarnings({ status }: Pod): readonly string[] {
  const warnings = (path: Path, addresses: readonly { readonly ip?: string }[] = []) =>
    addresses.flatMap(({ ip }, i) => (ip ? ipWarnings(path.index(i).child('ip'), ip) : []));
  return [...warnings(POD_IPS, status?.podIPs), ...warnings(HOST_IPS, status?.hostIPs)];
}
