import type { Service, ServiceSpec } from './service.ts';

/** Implications of a service's type and traffic policies. Shared by defaulting, validation and allocation. */
export const CLUSTER_IP_NONE = 'None';

/** Whether the service accepts external traffic. */
export function isExternallyAccessible(spec: ServiceSpec): boolean {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') return true;
  return (spec.type || 'ClusterIP') === 'ClusterIP' && (spec.externalIPs?.length ?? 0) > 0;
}

/** A load balancer for local endpoints checks the health of each node. */
export function needsHealthCheck(spec: ServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIPs?.length === 1 && spec.clusterIPs[0] === CLUSTER_IP_NONE;
}
