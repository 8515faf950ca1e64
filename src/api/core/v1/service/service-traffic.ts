import type { Service, ServiceSpec } from './service.ts';

/** What a service's type and traffic policies imply. Shared by defaulting, validation and allocation. */
export const CLUSTER_IP_NONE = 'None';

/** Traffic from outside the cluster reaches the service. */
export function isExternallyAccessible(spec: ServiceSpec): boolean {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') return true;
  return (spec.type || 'ClusterIP') === 'ClusterIP' && (spec.externalIPs?.length ?? 0) > 0;
}

/** A load balancer that sends traffic to local endpoints only asks each node for its health. */
export function needsHealthCheck(spec: ServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIPs?.length === 1 && spec.clusterIPs[0] === CLUSTER_IP_NONE;
}
