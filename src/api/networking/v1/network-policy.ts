import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, intOrString, kind, listOf, object, pointer, required, string } from '../../schema.ts';

export const NetworkPolicyPort = object('io.k8s.api.networking.v1.NetworkPolicyPort', '', {
  protocol: pointer(1, string),
  port: pointer(2, intOrString),
  endPort: pointer(3, int32),
});
export type NetworkPolicyPort = Infer<typeof NetworkPolicyPort>;

export const IPBlock = object('io.k8s.api.networking.v1.IPBlock', '', {
  cidr: required(1, string),
  except: field(2, listOf(string)),
});
export type IPBlock = Infer<typeof IPBlock>;

export const NetworkPolicyPeer = object('io.k8s.api.networking.v1.NetworkPolicyPeer', '', {
  podSelector: pointer(1, LabelSelector),
  namespaceSelector: pointer(2, LabelSelector),
  ipBlock: pointer(3, IPBlock),
});
export type NetworkPolicyPeer = Infer<typeof NetworkPolicyPeer>;

export const NetworkPolicyIngressRule = object('io.k8s.api.networking.v1.NetworkPolicyIngressRule', '', {
  ports: field(1, listOf(NetworkPolicyPort)),
  from: field(2, listOf(NetworkPolicyPeer)),
});
export type NetworkPolicyIngressRule = Infer<typeof NetworkPolicyIngressRule>;

export const NetworkPolicyEgressRule = object('io.k8s.api.networking.v1.NetworkPolicyEgressRule', '', {
  ports: field(1, listOf(NetworkPolicyPort)),
  to: field(2, listOf(NetworkPolicyPeer)),
});
export type NetworkPolicyEgressRule = Infer<typeof NetworkPolicyEgressRule>;

export const NetworkPolicySpec = object('io.k8s.api.networking.v1.NetworkPolicySpec', '', {
  podSelector: always(1, LabelSelector),
  ingress: field(2, listOf(NetworkPolicyIngressRule)),
  egress: field(3, listOf(NetworkPolicyEgressRule)),
  policyTypes: field(4, listOf(string)),
});
export type NetworkPolicySpec = Infer<typeof NetworkPolicySpec>;

export const NetworkPolicy = kind(
  {
    name: 'io.k8s.api.networking.v1.NetworkPolicy',
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'NetworkPolicy',
    resource: 'networkpolicies',
    namespaced: true,
    shortNames: ['netpol'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, NetworkPolicySpec),
  },
);
export type NetworkPolicy = Infer<typeof NetworkPolicy>;
