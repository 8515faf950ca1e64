import type { core } from '#api';

/** The port of a probe, by number or name. Throws when the container has no such port. */
export function containerPort(port: string | number | undefined, { ports = [] }: core.Container): number {
  const number = typeof port === 'string' ? (ports.find(({ name }) => name === port)?.containerPort ?? numberOf(port)) : (port ?? 0);
  if (number <= 0 || number > 65_535) throw new Error(`invalid port number: ${number}`);
  return number;
}

/** An unknown name may still be a number. The error text is Go's. */
function numberOf(port: string): number {
  if (!/^[+-]?\d{1,9}$/.test(port)) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(port)}: invalid syntax`);
  return Number(port);
}
