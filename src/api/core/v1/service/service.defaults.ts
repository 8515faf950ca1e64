import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec, ServiceStatus } from './service.ts';
import { isExternallyAccessible } from './service-traffic.ts';

const DEFAULT_AFFINITY_SECONDS = 10_800;
const TYPES_WITH_CLUSTER_IP: readonly string[] = ['ClusterIP', 'NodePort', 'LoadBalancer'];

export function defaultService(service: Service): Service {
  const spec = defaultSpec(service.spec ?? {});
  const status = spec.type === 'LoadBalancer' ? defaultStatus(service.status) : service.status;
  if (spec === service.spec && status === service.status) return service;
  return { ...service, spec, ...(status && { status }) };
}

function defaultSpec(spec: ServiceSpec): ServiceSpec {
  const type = spec.type || 'ClusterIP';
  const typed = defaultAffinity(spec.type ? spec : { ...spec, type });
  const ports = defaultPorts(typed.ports);
  const missing: { -readonly [K in keyof ServiceSpec]?: ServiceSpec[K] } = {};
  if (ports && ports !== typed.ports) missing.ports = ports;
  if (!typed.externalTrafficPolicy && isExternallyAccessible(typed)) missing.externalTrafficPolicy = 'Cluster';
  if (typed.internalTrafficPolicy === undefined && TYPES_WITH_CLUSTER_IP.includes(type)) missing.internalTrafficPolicy = 'Cluster';
  if (typed.allocateLoadBalancerNodePorts === undefined && type === 'LoadBalancer') missing.allocateLoadBalancerNodePorts = true;
  return Object.keys(missing).length === 0 ? typed : { ...typed, ...missing };
}

function defaultAffinity(spec: ServiceSpec): ServiceSpec {
  const sessionAffinity = spec.sessionAffinity || 'None';
  if (sessionAffinity === 'None') {
    if (spec.sessionAffinity && spec.sessionAffinityConfig === undefined) return spec;
    const { sessionAffinityConfig: _, ...rest } = spec;
    return { ...rest, sessionAffinity };
  }
  if (sessionAffinity !== 'ClientIP' || spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined) return spec;
  return { ...spec, sessionAffinityConfig: { clientIP: { timeoutSeconds: DEFAULT_AFFINITY_SECONDS } } };
}

function defaultPorts(ports: readonly ServicePort[] | undefined): readonly ServicePort[] | undefined {
  if (!ports?.some((port) => !port.protocol || !port.targetPort)) return ports;
  return ports.map((port) => ({ ...port, protocol: port.protocol || 'TCP', targetPort: port.targetPort || (port.port ?? 0) }));
}

function defaultStatus(status: ServiceStatus | undefined): ServiceStatus | undefined {
  const ingress = status?.loadBalancer?.ingress;
  const lacksMode = (item: LoadBalancerIngress) => Boolean(item.ip) && item.ipMode === undefined;
  if (!ingress?.some(lacksMode)) return status;
  return { ...status, loadBalancer: { ingress: ingress.map((item) => (lacksMode(item) ? { ...item, ipMode: 'VIP' } : item)) } };
}
