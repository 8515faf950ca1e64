import { readFile } from 'node:fs/promises';
import { formatIp } from '../ip-address.ts';

/** A connection with unacknowledged data or window probes. */
export interface UnacknowledgedConnection {
  /** Remote address and both ports: see `connectionKey`. */
  readonly key: string;
  /** The number of retransmissions of the oldest data. */
  readonly retries: number;
}

export interface ConnectionEnds {
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** A connection's key. IPv4-mapped IPv6 addresses, as Node writes them (`::ffff:192.0.2.1`), are IPv4. */
export function connectionKey({ localPort, remoteAddress, remotePort }: ConnectionEnds): string {
  return `${localPort} ${remoteAddress.replace(/^::ffff:/, '')} ${remotePort}`;
}

/** Columns of /proc/net/tcp: `sl local rem st tx:rx tr:when retrnsmt uid probes inode …`, numbers in hexadecimal but for uid and probes. */
const COLUMN = { local: 1, remote: 2, state: 3, timer: 5, retransmits: 6, probes: 8 } as const;
const STATES: ReadonlySet<string> = new Set(['01', '08']);
const RETRANSMIT_TIMER = '01';
const PROBE_TIMER = '04';

/** The connections of this network namespace with unacknowledged data. Empty if the kernel has no such table. */
export async function unacknowledgedConnections(file: string): Promise<readonly UnacknowledgedConnection[]> {
  const text = await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const connections: UnacknowledgedConnection[] = [];
  for (const line of text.split('\n')) {
    const connection = unacknowledged(line);
    if (connection !== undefined) connections.push(connection);
  }
  return connections;
}

function unacknowledged(line: string): UnacknowledgedConnection | undefined {
  const columns = line.trim().split(/\s+/);
  if (!STATES.has(columns[COLUMN.state] ?? '')) return undefined;
  const timer = columns[COLUMN.timer]?.split(':', 1)[0];
  const retries =
    timer === RETRANSMIT_TIMER
      ? Number.parseInt(columns[COLUMN.retransmits] ?? '0', 16)
      : timer === PROBE_TIMER
        ? Number(columns[COLUMN.probes] ?? '0')
        : 0;
  if (!(retries > 0)) return undefined;
  const [local, remote] = [endOf(columns[COLUMN.local]!), endOf(columns[COLUMN.remote]!)];
  return { key: connectionKey({ localPort: local.port, remoteAddress: remote.address, remotePort: remote.port }), retries };
}

function endOf(text: string): { readonly address: string; readonly port: number } {
  const [address = '', port = ''] = text.split(':');
  return { address: addressOf(address), port: Number.parseInt(port, 16) };
}

/** The kernel prints 32-bit words in host byte order, which is little-endian on all platforms of Node. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  const isIpv4 = bytes.length === 4 || bytes.subarray(0, IPV4_IN_IPV6.length).equals(IPV4_IN_IPV6);
  const value = BigInt(`0x${bytes.subarray(isIpv4 ? -4 : 0).toString('hex')}`);
  return formatIp({ family: isIpv4 ? 4 : 6, value });
}

const IPV4_IN_IPV6 = Buffer.from('00000000000000000000ffff', 'hex');
