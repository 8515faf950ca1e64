import type { core } from '#api';

/** The services that are exposed as variables. */
export interface ServiceSource {
  /** Resolves after the initial list. */
  readonly synced: Promise<unknown>;
  inNamespace(namespace: string): readonly core.Service[];
}

/** Upstream's service variables: services of the pod's namespace, and always the API server. */
export function serviceEnvironment(pod: core.Pod, services: ServiceSource): ReadonlyMap<string, string> {
  const { namespace = '' } = pod.metadata;
  const hasLinks = pod.spec?.enableServiceLinks !== false;
  const api = services.inNamespace('default').filter(({ metadata }) => metadata.name === 'kubernetes');
  const own = hasLinks ? services.inNamespace(namespace) : [];
  const variables = new Map<string, string>();
  const named = new Set(own.map(({ metadata }) => metadata.name));
  const others = namespace === 'default' || !named.has('kubernetes') ? api : [];
  for (const service of [...others, ...own]) addService(variables, service);
  return variables;
}

function addService(variables: Map<string, string>, { metadata, spec }: core.Service): void {
  const { clusterIP = '', ports = [] } = spec ?? {};
  const [first] = ports;
  if (clusterIP === '' || clusterIP === 'None' || first === undefined) return;
  const prefix = variableName(metadata.name);
  variables.set(`${prefix}_SERVICE_HOST`, clusterIP);
  variables.set(`${prefix}_SERVICE_PORT`, String(first.port));
  for (const { name, port } of ports) if (name) variables.set(`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port));
  variables.set(`${prefix}_PORT`, address(clusterIP, first));
  for (const port of ports) {
    const { protocol = 'TCP' } = port;
    const own = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
    variables.set(own, address(clusterIP, port));
    variables.set(`${own}_PROTO`, protocol.toLowerCase());
    variables.set(`${own}_PORT`, String(port.port));
    variables.set(`${own}_ADDR`, clusterIP);
  }
}

function address(ip: string, { protocol = 'TCP', port }: core.ServicePort): string {
  return `${protocol.toLowerCase()}://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}
