import type { core, discovery } from '#api';
import { formatCidr, parseCidr, parseIp } from '#base';
import { candidates, clusterEndpoints, countReadyLocalAddresses, localEndpoints, type ProxyNode } from './select-endpoints.ts';
import type { Frontend, Protocol, ServicePortRules, ServiceRules } from './service-rules.ts';

export const PROXY_NAME_LABEL = 'service.kubernetes.io/service-proxy-name';
export const HEADLESS_LABEL = 'service.kubernetes.io/headless';
const SOURCE_RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const DEFAULT_AFFINITY_SECONDS = 10_800;
const NO_RULES: ServiceRules = { ports: [] };

/** The rules of one service; none for headless and ExternalName services, and those of another proxy. */
export function computeServiceRules(service: core.Service, slices: readonly discovery.EndpointSlice[], node: ProxyNode): ServiceRules {
  const { spec = {}, metadata } = service;
  if (!isProxied(service)) return NO_RULES;
  const families = ([4, 6] as const).filter((family) => clusterAddresses(spec).some((address) => parseIp(address)?.family === family));
  const usable = slices.filter(({ metadata: of }) => of?.labels?.[HEADLESS_LABEL] === undefined);
  const ports = families.flatMap((family) => (spec.ports ?? []).map((port) => portRules({ service, port, family, slices: usable, node })));
  const { healthCheckNodePort: port } = spec;
  if (!port || spec.externalTrafficPolicy !== 'Local') return { ports };
  const names = { namespace: metadata?.namespace ?? '', service: metadata?.name ?? '' };
  return { ports, healthCheck: { ...names, port, localEndpoints: countReadyLocalAddresses(usable, { families, node }) } };
}

function isProxied({ spec, metadata }: core.Service): boolean {
  if (spec === undefined || spec.type === 'ExternalName' || metadata?.labels?.[PROXY_NAME_LABEL] !== undefined) return false;
  return clusterAddresses(spec).length > 0;
}

function clusterAddresses({ clusterIP, clusterIPs }: core.ServiceSpec): readonly string[] {
  const all = clusterIPs && clusterIPs.length > 0 ? clusterIPs : clusterIP ? [clusterIP] : [];
  return all.filter((address) => parseIp(address) !== undefined);
}

interface PortInput {
  readonly service: core.Service;
  readonly port: core.ServicePort;
  readonly family: 4 | 6;
  readonly slices: readonly discovery.EndpointSlice[];
  readonly node: ProxyNode;
}

function portRules(input: PortInput): ServicePortRules {
  const { service, port, family } = input;
  const { metadata, spec = {} } = service;
  const namespace = metadata?.namespace ?? '';
  const name = metadata?.name ?? '';
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS;
  return {
    id: `${namespace}/${name}:${port.name ?? ''}/${port.port}/${family}`,
    namespace,
    service: name,
    family,
    protocol: (port.protocol ?? 'TCP').toLowerCase() as Protocol,
    frontends: frontendsOf(input),
    ...(spec.sessionAffinity === 'ClientIP' && { affinitySeconds: seconds }),
  };
}

function frontendsOf({ service: { spec = {}, status, metadata }, port, family, slices, node }: PortInput): readonly Frontend[] {
  const all = candidates(slices, port, { family, node });
  const ofCluster = clusterEndpoints(all, node);
  const ofNode = localEndpoints(all);
  const isOfFamily = (address: string | undefined): address is string => address !== undefined && parseIp(address)?.family === family;
  const external = {
    endpoints: ofCluster,
    masquerade: 'always',
    ...(spec.externalTrafficPolicy === 'Local' && { localEndpoints: ofNode }),
  } as const;
  const isInternalLocal = spec.internalTrafficPolicy === 'Local';
  const internal = {
    endpoints: isInternalLocal ? ofNode : ofCluster,
    masquerade: 'not-pods',
    ...(isInternalLocal && ofNode.length === 0 && ofCluster.length > 0 && { dropsUnserved: true as const }),
  } as const;
  const sourceRanges = rangesOf(spec, metadata, family);
  const balancers = (status?.loadBalancer?.ingress ?? []).filter(({ ip, ipMode }) => isOfFamily(ip) && ipMode !== 'Proxy');
  const frontends: Frontend[] = [
    ...clusterAddresses(spec)
      .filter(isOfFamily)
      .map((address) => ({ kind: 'clusterIP', address, port: port.port, ...internal }) as const),
    ...(spec.externalIPs ?? [])
      .filter(isOfFamily)
      .map((address) => ({ kind: 'externalIP', address, port: port.port, ...external }) as const),
    ...balancers.map(
      ({ ip }) => ({ kind: 'loadBalancer', address: ip!, port: port.port, ...external, ...(sourceRanges && { sourceRanges }) }) as const,
    ),
  ];
  if (port.nodePort) frontends.push({ kind: 'nodePort', port: port.nodePort, ...external });
  return frontends;
}

/** Undefined: unrestricted. Only ranges of the other family exclude everybody of this one. */
function rangesOf(spec: core.ServiceSpec, metadata: core.Service['metadata'], family: 4 | 6): readonly string[] | undefined {
  const annotation = metadata?.annotations?.[SOURCE_RANGES_ANNOTATION];
  const texts = spec.loadBalancerSourceRanges?.length ? spec.loadBalancerSourceRanges : annotation?.split(',');
  const ranges = (texts ?? []).map((range) => parseCidr(range.trim())).filter((range) => range !== undefined);
  if (ranges.length === 0) return undefined;
  const ofFamily = ranges.filter((range) => range.family === family);
  if (ofFamily.some(({ prefixLength }) => prefixLength === 0)) return undefined;
  return ofFamily.map(formatCidr);
}
