/** Whether the host names no address that other machines can reach: loopback or unspecified. */
export function isLocalHost(host: string): boolean {
  return ['0.0.0.0', '::', '::1', 'localhost'].includes(host) || host.startsWith('127.');
}
