import { goQuote, type Path } from '#machinery';
import type { Container, ContainerPort } from '../container/container.ts';

export interface PlacedContainer {
  readonly container: Container;
  readonly path: Path;
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly path: Path;
}

/** Duplicate ports and port names. */
export function portWarnings(containers: readonly PlacedContainer[]): readonly string[] {
  const ports = containers.flatMap(({ container, path }) =>
    (container.ports ?? []).map((port, i) => ({ port, path: path.child('ports').index(i) })),
  );
  return ports.length === 0 ? [] : [...clashWarnings(ports), ...nameWarnings(ports)];
}

function clashWarnings(ports: readonly PlacedPort[]): readonly string[] {
  const warnings: string[] = [];
  const seen = new Map<string, PlacedPort[]>();
  for (const placed of ports) {
    const { port, path } = placed;
    if (port.hostIP && !port.hostPort) warnings.push(`${path}: hostIP set without hostPort: ${goPort(port)}`);
    const key = `${port.containerPort}/${port.protocol}`;
    const others = seen.get(key) ?? [];
    for (const other of others) {
      const clash = clashOf(port, other.port);
      if (clash) warnings.push(`${path}: ${clash} port definition with ${other.path}`);
    }
    seen.set(key, [...others, placed]);
  }
  return warnings;
}

function clashOf(a: ContainerPort, b: ContainerPort): string | undefined {
  const [aPort, bPort, aIp, bIp] = [a.hostPort ?? 0, b.hostPort ?? 0, a.hostIP ?? '', b.hostIP ?? ''];
  if (aIp === bIp && aPort === bPort) return 'duplicate';
  if (aPort === 0 || bPort === 0) return 'overlapping';
  return aPort === bPort && (aIp === '') !== (bIp === '') ? 'dangerously ambiguous' : undefined;
}

/** A port as Go prints a struct. */
function goPort({ name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = '' }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}

function nameWarnings(ports: readonly PlacedPort[]): readonly string[] {
  const seen = new Map<string, Path>();
  return ports.flatMap(({ port: { name }, path }) => {
    if (!name) return [];
    const other = seen.get(name);
    if (other === undefined) {
      seen.set(name, path);
      return [];
    }
    const clash = `duplicate port name ${goQuote(name)} with ${other}`;
    return [`${path}: ${clash}, services and probes that select ports by name will use ${other}`];
  });
}
