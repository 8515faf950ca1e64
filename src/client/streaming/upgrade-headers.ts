/** Reads a request header; repeated lines are joined by commas. */
export type HeaderLookup = (name: string) => string | undefined;

export const SPDY = 'SPDY/3.1';
export const PROTOCOL_HEADER = 'x-stream-protocol-version';
export const ACCEPTED_PROTOCOLS_HEADER = 'x-accepted-stream-protocol-versions';

/** The requested upgrade; undefined when there is none. */
export function upgradeOf(header: HeaderLookup): 'websocket' | 'spdy' | 'other' | undefined {
  if (!listed(header('connection')).some((option) => option.toLowerCase() === 'upgrade')) return undefined;
  const upgrade = header('upgrade')?.trim().toLowerCase();
  if (!upgrade) return undefined;
  if (upgrade === 'websocket') return 'websocket';
  return upgrade === SPDY.toLowerCase() ? 'spdy' : 'other';
}

export function spdyProtocols(header: HeaderLookup): readonly string[] {
  return listed(header(PROTOCOL_HEADER));
}

export function webSocketProtocols(header: HeaderLookup): readonly string[] {
  return listed(header('sec-websocket-protocol'));
}

function listed(value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
