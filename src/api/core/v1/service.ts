import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  atomicMapOf,
  bool,
  field,
  type Infer,
  int32,
  intOrString,
  kind,
  listOf,
  mapListOf,
  object,
  pointer,
  required,
  string,
} from '../../schema.ts';

export const ServicePort = object('io.k8s.api.core.v1.ServicePort', '', {
  name: field(1, string),
  protocol: field(2, string, '', { default: 'TCP' }),
  appProtocol: pointer(6, string),
  port: required(3, int32),
  targetPort: always(4, intOrString),
  nodePort: field(5, int32),
});
export type ServicePort = Infer<typeof ServicePort>;

export const ClientIPConfig = object('io.k8s.api.core.v1.ClientIPConfig', '', {
  timeoutSeconds: pointer(1, int32),
});
export type ClientIPConfig = Infer<typeof ClientIPConfig>;

export const SessionAffinityConfig = object('io.k8s.api.core.v1.SessionAffinityConfig', '', {
  clientIP: pointer(1, ClientIPConfig),
});
export type SessionAffinityConfig = Infer<typeof SessionAffinityConfig>;

export const ServiceSpec = object('io.k8s.api.core.v1.ServiceSpec', '', {
  ports: field(1, mapListOf(ServicePort, 'port', 'protocol'), '', { merge: 'port' }),
  selector: field(2, atomicMapOf(string)),
  clusterIP: field(3, string),
  clusterIPs: field(18, listOf(string)),
  type: field(4, string),
  externalIPs: field(5, listOf(string)),
  sessionAffinity: field(7, string),
  loadBalancerIP: field(8, string),
  loadBalancerSourceRanges: field(9, listOf(string)),
  externalName: field(10, string),
  externalTrafficPolicy: field(11, string),
  healthCheckNodePort: field(12, int32),
  publishNotReadyAddresses: field(13, bool),
  sessionAffinityConfig: pointer(14, SessionAffinityConfig),
  ipFamilies: field(19, listOf(string)),
  ipFamilyPolicy: pointer(17, string),
  allocateLoadBalancerNodePorts: pointer(20, bool),
  loadBalancerClass: pointer(21, string),
  internalTrafficPolicy: pointer(22, string),
  trafficDistribution: pointer(23, string),
});
export type ServiceSpec = Infer<typeof ServiceSpec>;

export const PortStatus = object('io.k8s.api.core.v1.PortStatus', '', {
  port: required(1, int32),
  protocol: required(2, string),
  error: pointer(3, string),
});
export type PortStatus = Infer<typeof PortStatus>;

export const LoadBalancerIngress = object('io.k8s.api.core.v1.LoadBalancerIngress', '', {
  ip: field(1, string),
  hostname: field(2, string),
  ipMode: pointer(3, string),
  ports: field(4, listOf(PortStatus)),
});
export type LoadBalancerIngress = Infer<typeof LoadBalancerIngress>;

export const LoadBalancerStatus = object('io.k8s.api.core.v1.LoadBalancerStatus', '', {
  ingress: field(1, listOf(LoadBalancerIngress)),
});
export type LoadBalancerStatus = Infer<typeof LoadBalancerStatus>;

export const ServiceStatus = object('io.k8s.api.core.v1.ServiceStatus', '', {
  loadBalancer: always(1, LoadBalancerStatus),
  conditions: field(2, mapListOf(Condition, 'type'), '', { merge: 'type' }),
});
export type ServiceStatus = Infer<typeof ServiceStatus>;

export const Service = kind(
  {
    name: 'io.k8s.api.core.v1.Service',
    group: '',
    version: 'v1',
    kind: 'Service',
    resource: 'services',
    namespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, ServiceSpec),
    status: always(3, ServiceStatus),
  },
);
export type Service = Infer<typeof Service>;
