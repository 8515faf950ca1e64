import { readFileSync } from 'node:fs';

const TCP_LISTEN = '0A';
const UDP_OPEN = '07';

/** Ports of local listeners, from /proc/net; empty where it does not exist. */
export function listeningPorts(read: (file: string) => string = (file) => readFileSync(file, 'utf8')): ReadonlySet<string> {
  const ports = new Set<string>();
  for (const [protocol, state] of [
    ['tcp', TCP_LISTEN],
    ['udp', UDP_OPEN],
  ] as const) {
    for (const suffix of ['', '6']) {
      for (const { address, port } of socketsIn(readTable(read, `/proc/net/${protocol}${suffix}`), state)) {
        if (!isLoopback(address)) ports.add(`${protocol.toUpperCase()} ${port}`);
      }
    }
  }
  return ports;
}

function readTable(read: (file: string) => string, file: string): string {
  try {
    return read(file);
  } catch {
    // Not Linux.
    return '';
  }
}

function socketsIn(table: string, state: string): readonly { readonly address: string; readonly port: number }[] {
  const rows = table
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.trim().split(/\s+/));
  return rows
    .filter((row) => row[3] === state)
    .map(([, local = '']) => {
      const [address = '', port = ''] = local.split(':');
      return { address, port: Number.parseInt(port, 16) };
    });
}

/** Addresses are hexadecimal, in host byte order. */
function isLoopback(address: string): boolean {
  return address.length === 8 ? address.endsWith('7F') : address === '00000000000000000000000001000000';
}
