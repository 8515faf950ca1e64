import { Condition } from '../../../meta/v1/condition.ts';
import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
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
  named,
  object,
  pointer,
  required,
  string,
} from '../../../schema.ts';

export const ServicePort = object('io.k8s.api.core.v1.ServicePort', 'A port that a service offers.', {
  name: field(1, string, 'The name of the port. Needed when there are several.'),
  protocol: field(2, named('v1.Protocol'), 'TCP, UDP or SCTP; TCP by default.', { default: 'TCP' }),
  appProtocol: pointer(6, string, 'The protocol spoken on the port, such as http or kubernetes.io/h2c.'),
  port: required(3, int32, 'The port of the service.'),
  targetPort: always(4, intOrString, 'The port of the pods, by number or by name; the same as port by default.'),
  nodePort: field(5, int32, 'The port on every node, for NodePort and LoadBalancer. Allotted when absent.'),
});
export type ServicePort = Infer<typeof ServicePort>;

export const ClientIPConfig = object('io.k8s.api.core.v1.ClientIPConfig', "Settings of affinity by the client's address.", {
  timeoutSeconds: pointer(1, int32, 'How long a client stays with its pod. 10800 by default.'),
});
export type ClientIPConfig = Infer<typeof ClientIPConfig>;

export const SessionAffinityConfig = object('io.k8s.api.core.v1.SessionAffinityConfig', 'Settings of session affinity.', {
  clientIP: pointer(1, ClientIPConfig, "Settings of affinity by the client's address."),
});
export type SessionAffinityConfig = Infer<typeof SessionAffinityConfig>;

export const ServiceSpec = object('io.k8s.api.core.v1.ServiceSpec', 'What a service offers and to whom.', {
  ports: field(1, mapListOf(ServicePort, 'port', 'protocol'), 'The ports that are offered.', { merge: 'port' }),
  selector: field(2, atomicMapOf(string), 'Labels of the pods that serve. Without it, endpoints are kept by hand.'),
  clusterIP: field(3, string, "The address inside the cluster; 'None' for a headless service. Allotted when absent."),
  clusterIPs: field(18, listOf(string), 'The addresses inside the cluster, one a family; the first is clusterIP.'),
  type: field(4, named('v1.ServiceType'), 'ClusterIP (the default), NodePort, LoadBalancer or ExternalName.'),
  externalIPs: field(5, listOf(string), "Further addresses, outside Kubernetes' control, that lead to the service's nodes."),
  sessionAffinity: field(7, named('v1.ServiceAffinity'), 'ClientIP sends a client to the same pod each time; None, the default, does not.'),
  loadBalancerIP: field(8, string, 'The address wanted of the load balancer. Deprecated: few providers heed it.'),
  loadBalancerSourceRanges: field(9, listOf(string), 'The CIDRs of clients that the load balancer accepts.'),
  externalName: field(10, string, 'The name that lookups of an ExternalName service return.'),
  externalTrafficPolicy: field(
    11,
    named('v1.ServiceExternalTrafficPolicy'),
    'Local keeps traffic from outside on the node it reached; Cluster spreads it.',
  ),
  healthCheckNodePort: field(12, int32, 'The port for health checks of load balancers.'),
  publishNotReadyAddresses: field(13, bool, 'If true, pods count as endpoints before they are ready.'),
  sessionAffinityConfig: pointer(14, SessionAffinityConfig, 'Settings of session affinity.'),
  ipFamilies: field(19, listOf(named('v1.IPFamily')), 'IPv4, IPv6 or both, in order.'),
  ipFamilyPolicy: pointer(17, named('v1.IPFamilyPolicy'), 'SingleStack, PreferDualStack or RequireDualStack.'),
  allocateLoadBalancerNodePorts: pointer(20, bool, 'Whether a load balancer service gets node ports. True by default.'),
  loadBalancerClass: pointer(21, string, 'Which load balancer implementation serves it.'),
  internalTrafficPolicy: pointer(
    22,
    named('v1.ServiceInternalTrafficPolicy'),
    "Local keeps internal traffic on the client's node; Cluster distributes it.",
  ),
  trafficDistribution: pointer(
    23,
    string,
    'Which endpoints are preferred: PreferSameZone, PreferSameNode, or PreferClose as the old name of the first.',
  ),
});
export type ServiceSpec = Infer<typeof ServiceSpec>;

export const PortStatus = object('io.k8s.api.core.v1.PortStatus', 'The state of a port of a load balancer.', {
  port: required(1, int32, 'The port.'),
  protocol: required(2, named('v1.Protocol'), 'The protocol.'),
  error: pointer(3, string, 'What is wrong with it.'),
});
export type PortStatus = Infer<typeof PortStatus>;

export const LoadBalancerIngress = object('io.k8s.api.core.v1.LoadBalancerIngress', 'An address of a load balancer.', {
  ip: field(1, string, 'The address, if it has one.'),
  hostname: field(2, string, 'The name, if it has one.'),
  ipMode: pointer(3, named('v1.LoadBalancerIPMode'), "VIP or Proxy: whether packets reach nodes with the load balancer's address."),
  ports: field(4, listOf(PortStatus), 'The state of each port.'),
});
export type LoadBalancerIngress = Infer<typeof LoadBalancerIngress>;

export const LoadBalancerStatus = object('io.k8s.api.core.v1.LoadBalancerStatus', 'Where a load balancer is reached.', {
  ingress: field(1, listOf(LoadBalancerIngress), 'Its addresses; traffic to any of them is served.'),
});
export type LoadBalancerStatus = Infer<typeof LoadBalancerStatus>;

export const ServiceStatus = object('io.k8s.api.core.v1.ServiceStatus', 'What a service got.', {
  loadBalancer: always(1, LoadBalancerStatus, 'Where the load balancer is reached.'),
  conditions: field(2, mapListOf(Condition, 'type'), "What is known of the service's state.", { merge: 'type' }),
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
  'A stable address and name for a set of pods.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, ServiceSpec, 'What is wanted.'),
    status: always(3, ServiceStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type Service = Infer<typeof Service>;
