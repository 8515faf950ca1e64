import { TypedLocalObjectReference } from '../../core/v1/reference/typed-local-object-reference.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  atomic,
  field,
  type Infer,
  inlined,
  int32,
  kind,
  listOf,
  named,
  nullable,
  object,
  pointer,
  required,
  string,
} from '../../schema.ts';

export const ServiceBackendPort = atomic(
  object('io.k8s.api.networking.v1.ServiceBackendPort', 'A port of a service, by name or by number.', {
    name: field(1, string, 'The name of the port.'),
    number: field(2, int32, 'The number of the port.'),
  }),
);
export type ServiceBackendPort = Infer<typeof ServiceBackendPort>;

export const IngressServiceBackend = object('io.k8s.api.networking.v1.IngressServiceBackend', 'A service that requests lead to.', {
  name: required(1, string, 'The service.'),
  port: always(2, ServiceBackendPort, 'Its port.'),
});
export type IngressServiceBackend = Infer<typeof IngressServiceBackend>;

export const IngressBackend = object('io.k8s.api.networking.v1.IngressBackend', 'Where requests lead.', {
  service: pointer(4, IngressServiceBackend, 'A service.'),
  resource: pointer(3, TypedLocalObjectReference, 'An object of another kind.'),
});
export type IngressBackend = Infer<typeof IngressBackend>;

export const IngressTLS = object('io.k8s.api.networking.v1.IngressTLS', 'Hosts served over TLS.', {
  hosts: field(1, listOf(string), 'The hosts of the certificate.'),
  secretName: field(2, string, 'The Secret with certificate and key.'),
});
export type IngressTLS = Infer<typeof IngressTLS>;

export const HTTPIngressPath = object('io.k8s.api.networking.v1.HTTPIngressPath', 'Where requests for a path lead.', {
  path: field(1, string, 'The path, beginning with /.'),
  pathType: nullable(3, named('v1.PathType'), 'Exact, Prefix or ImplementationSpecific.', { required: true }),
  backend: required(2, IngressBackend, 'Where the requests lead.'),
});
export type HTTPIngressPath = Infer<typeof HTTPIngressPath>;

export const HTTPIngressRuleValue = object('io.k8s.api.networking.v1.HTTPIngressRuleValue', 'Which paths lead where.', {
  paths: required(1, listOf(HTTPIngressPath), 'The paths.'),
});
export type HTTPIngressRuleValue = Infer<typeof HTTPIngressRuleValue>;

export const IngressRuleValue = object('io.k8s.api.networking.v1.IngressRuleValue', 'The part of a rule for one protocol.', {
  // Without a description, as upstream: published as a plain reference.
  http: pointer(1, HTTPIngressRuleValue),
});
export type IngressRuleValue = Infer<typeof IngressRuleValue>;

export const IngressRule = object('io.k8s.api.networking.v1.IngressRule', 'Where requests for a host lead.', {
  host: field(1, string, 'The host, or *.domain; every host when absent.'),
  ...inlined(2, IngressRuleValue),
});
export type IngressRule = Infer<typeof IngressRule>;

export const IngressSpec = object('io.k8s.api.networking.v1.IngressSpec', 'Which requests lead where.', {
  ingressClassName: pointer(4, string, 'The IngressClass that serves it.'),
  defaultBackend: pointer(1, IngressBackend, 'Where requests lead that match no rule.'),
  tls: field(2, listOf(IngressTLS), 'Hosts that are served over TLS, and their certificates.'),
  rules: field(3, listOf(IngressRule), 'Which hosts and paths lead where.'),
});
export type IngressSpec = Infer<typeof IngressSpec>;

export const IngressPortStatus = object('io.k8s.api.networking.v1.IngressPortStatus', 'The state of a port of an ingress.', {
  port: required(1, int32, 'The port.'),
  protocol: required(2, named('v1.Protocol'), 'The protocol.'),
  error: pointer(3, string, 'What is wrong with it.'),
});
export type IngressPortStatus = Infer<typeof IngressPortStatus>;

export const IngressLoadBalancerIngress = object('io.k8s.api.networking.v1.IngressLoadBalancerIngress', 'An address of an ingress.', {
  ip: field(1, string, 'The address, if it has one.'),
  hostname: field(2, string, 'The name, if it has one.'),
  ports: field(4, listOf(IngressPortStatus), 'The state of each port.'),
});
export type IngressLoadBalancerIngress = Infer<typeof IngressLoadBalancerIngress>;

export const IngressLoadBalancerStatus = object('io.k8s.api.networking.v1.IngressLoadBalancerStatus', 'Where an ingress is reached.', {
  ingress: field(1, listOf(IngressLoadBalancerIngress), 'Its addresses.'),
});
export type IngressLoadBalancerStatus = Infer<typeof IngressLoadBalancerStatus>;

export const IngressStatus = object('io.k8s.api.networking.v1.IngressStatus', 'Where an ingress is reached.', {
  loadBalancer: always(1, IngressLoadBalancerStatus, 'The addresses of the ingress.'),
});
export type IngressStatus = Infer<typeof IngressStatus>;

export const Ingress = kind(
  {
    name: 'io.k8s.api.networking.v1.Ingress',
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'Ingress',
    resource: 'ingresses',
    namespaced: true,
    shortNames: ['ing'],
  },
  'Leads HTTP requests from outside to services, by host and path.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, IngressSpec, 'What is wanted.'),
    status: always(3, IngressStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type Ingress = Infer<typeof Ingress>;
