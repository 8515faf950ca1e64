import type { InterfaceUsage } from './container-sample.ts';

/** The host ends of container interfaces would be counted twice; cAdvisor leaves them out too. */
const IGNORED_PREFIXES = ['lo', 'veth', 'docker', 'nerdctl'];

/** Reads the text of /proc/net/dev. */
export function parseNetDev(text: string): readonly InterfaceUsage[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', rest] = line.split(':');
    const device = name.trim();
    if (rest === undefined || IGNORED_PREFIXES.some((prefix) => device.startsWith(prefix))) return [];
    const counts = rest
      .split(' ')
      .filter((word) => word !== '')
      .map(Number);
    const [rxBytes = 0, rxPackets = 0, rxErrors = 0, rxDropped = 0] = counts;
    const [txBytes = 0, txPackets = 0, txErrors = 0, txDropped = 0] = counts.slice(8);
    return [{ interface: device, rxBytes, rxPackets, rxErrors, rxDropped, txBytes, txPackets, txErrors, txDropped }];
  });
}
