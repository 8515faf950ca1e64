import { core, sameValue } from '#api';

type Spec = core.ServiceSpec;

/**
 * When a service changes its type, values that the server set for the old type are cleared, unless the same update changes them: validation
 * then reports the error.
 */
export function dropTypeDependentFields(service: core.Service, old: core.Service): core.Service {
  const before = old.spec ?? {};
  const spec = DROPS.reduce((current: Spec, drop) => drop(current, before), service.spec ?? {});
  const changed = spec === service.spec ? service : { ...service, spec };
  const hasIngress = spec.type !== 'LoadBalancer' && Object.keys(changed.status?.loadBalancer ?? {}).length > 0;
  return hasIngress ? { ...changed, status: { ...changed.status, loadBalancer: {} } } : changed;
}

type Drop = (spec: Spec, before: Spec) => Spec;

const DROPS: readonly Drop[] = [
  dropClusterIps,
  dropNodePorts,
  dropHealthCheckPort,
  dropNodePortAllocation,
  dropLoadBalancerClass,
  dropExternalTrafficPolicy,
];

function dropClusterIps(spec: Spec, before: Spec): Spec {
  if (before.type === 'ExternalName' || spec.type !== 'ExternalName') return spec;
  let rest = spec;
  if ((before.clusterIP ?? '') === (rest.clusterIP ?? '') && sameValue(before.clusterIPs, rest.clusterIPs)) {
    const { clusterIP: _, clusterIPs: __, ...others } = rest;
    rest = others;
  }
  if (sameValue(before.ipFamilies, rest.ipFamilies)) {
    const { ipFamilies: _, ...others } = rest;
    rest = others;
  }
  if ((before.ipFamilyPolicy ?? '') !== (rest.ipFamilyPolicy ?? '')) return rest;
  const { ipFamilyPolicy: _, ...others } = rest;
  return others;
}

export function hasNodePorts({ type }: Spec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

function dropNodePorts(spec: Spec, before: Spec): Spec {
  if (!hasNodePorts(before) || hasNodePorts(spec) || !spec.ports?.some(({ nodePort }) => nodePort)) return spec;
  const oldPorts = new Set(before.ports?.map(({ nodePort }) => nodePort));
  if (spec.ports.some(({ nodePort }) => nodePort && !oldPorts.has(nodePort))) return spec;
  return { ...spec, ports: spec.ports.map(({ nodePort: _, ...port }) => port) };
}

function dropHealthCheckPort(spec: Spec, before: Spec): Spec {
  if (!core.needsHealthCheck(before) || core.needsHealthCheck(spec)) return spec;
  if ((before.healthCheckNodePort ?? 0) !== (spec.healthCheckNodePort ?? 0)) return spec;
  const { healthCheckNodePort: _, ...rest } = spec;
  return rest;
}

function dropNodePortAllocation(spec: Spec, before: Spec): Spec {
  if (before.type !== 'LoadBalancer' || spec.type === 'LoadBalancer') return spec;
  if (spec.allocateLoadBalancerNodePorts !== before.allocateLoadBalancerNodePorts) return spec;
  const { allocateLoadBalancerNodePorts: _, ...rest } = spec;
  return rest;
}

function dropLoadBalancerClass(spec: Spec, before: Spec): Spec {
  if (before.type !== 'LoadBalancer' || spec.type === 'LoadBalancer') return spec;
  if (spec.loadBalancerClass !== before.loadBalancerClass) return spec;
  const { loadBalancerClass: _, ...rest } = spec;
  return rest;
}

function dropExternalTrafficPolicy(spec: Spec, before: Spec): Spec {
  if (!core.isExternallyAccessible(before) || core.isExternallyAccessible(spec)) return spec;
  if ((spec.externalTrafficPolicy ?? '') !== (before.externalTrafficPolicy ?? '')) return spec;
  const { externalTrafficPolicy: _, ...rest } = spec;
  return rest;
}
