import { TypedLocalObjectReference } from '../../core/v1/typed-local-object-reference.ts';
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
  nullable,
  object,
  pointer,
  required,
  string,
} from '../../schema.ts';

export const ServiceBackendPort = atomic(
  object('io.k8s.api.networking.v1.ServiceBackendPort', '', {
    name: field(1, string),
    number: field(2, int32),
  }),
);
export type ServiceBackendPort = Infer<typeof ServiceBackendPort>;

export const IngressServiceBackend = object('io.k8s.api.networking.v1.IngressServiceBackend', '', {
  name: required(1, string),
  port: always(2, ServiceBackendPort),
});
export type IngressServiceBackend = Infer<typeof IngressServiceBackend>;

export const IngressBackend = object('io.k8s.api.networking.v1.IngressBackend', '', {
  service: pointer(4, IngressServiceBackend),
  resource: pointer(3, TypedLocalObjectReference),
});
export type IngressBackend = Infer<typeof IngressBackend>;

export const IngressTLS = object('io.k8s.api.networking.v1.IngressTLS', '', {
  hosts: field(1, listOf(string)),
  secretName: field(2, string),
});
export type IngressTLS = Infer<typeof IngressTLS>;

export const HTTPIngressPath = object('io.k8s.api.networking.v1.HTTPIngressPath', '', {
  path: field(1, string),
  pathType: nullable(3, string, '', { required: true }),
  backend: required(2, IngressBackend),
});
export type HTTPIngressPath = Infer<typeof HTTPIngressPath>;

export const HTTPIngressRuleValue = object('io.k8s.api.networking.v1.HTTPIngressRuleValue', '', {
  paths: required(1, listOf(HTTPIngressPath)),
});
export type HTTPIngressRuleValue = Infer<typeof HTTPIngressRuleValue>;

export const IngressRuleValue = object('io.k8s.api.networking.v1.IngressRuleValue', '', {
  http: pointer(1, HTTPIngressRuleValue),
});
export type IngressRuleValue = Infer<typeof IngressRuleValue>;

export const IngressRule = object('io.k8s.api.networking.v1.IngressRule', '', {
  host: field(1, string),
  ...inlined(2, IngressRuleValue),
});
export type IngressRule = Infer<typeof IngressRule>;

export const IngressSpec = object('io.k8s.api.networking.v1.IngressSpec', '', {
  ingressClassName: pointer(4, string),
  defaultBackend: pointer(1, IngressBackend),
  tls: field(2, listOf(IngressTLS)),
  rules: field(3, listOf(IngressRule)),
});
export type IngressSpec = Infer<typeof IngressSpec>;

export const IngressPortStatus = object('io.k8s.api.networking.v1.IngressPortStatus', '', {
  port: required(1, int32),
  protocol: required(2, string),
  error: pointer(3, string),
});
export type IngressPortStatus = Infer<typeof IngressPortStatus>;

export const IngressLoadBalancerIngress = object('io.k8s.api.networking.v1.IngressLoadBalancerIngress', '', {
  ip: field(1, string),
  hostname: field(2, string),
  ports: field(4, listOf(IngressPortStatus)),
});
export type IngressLoadBalancerIngress = Infer<typeof IngressLoadBalancerIngress>;

export const IngressLoadBalancerStatus = object('io.k8s.api.networking.v1.IngressLoadBalancerStatus', '', {
  ingress: field(1, listOf(IngressLoadBalancerIngress)),
});
export type IngressLoadBalancerStatus = Infer<typeof IngressLoadBalancerStatus>;

export const IngressStatus = object('io.k8s.api.networking.v1.IngressStatus', '', {
  loadBalancer: always(1, IngressLoadBalancerStatus),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, IngressSpec),
    status: always(3, IngressStatus),
  },
);
export type Ingress = Infer<typeof Ingress>;
