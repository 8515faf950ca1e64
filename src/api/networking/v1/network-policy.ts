import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, intOrString, kind, listOf, named, object, pointer, required, string } from '../../schema.ts';

export const NetworkPolicyPort = object('io.k8s.api.networking.v1.NetworkPolicyPort', 'Ports that traffic may use.', {
  protocol: pointer(1, named('v1.Protocol'), 'TCP, UDP or SCTP; TCP by default.'),
  port: pointer(2, intOrString, 'The port, by number or by name; all when absent.'),
  endPort: pointer(3, int32, 'The last port of a range that begins with port.'),
});
export type NetworkPolicyPort = Infer<typeof NetworkPolicyPort>;

export const IPBlock = object('io.k8s.api.networking.v1.IPBlock', 'A range of addresses.', {
  cidr: required(1, string, 'The range.'),
  except: field(2, listOf(string), 'Parts of the range that are left out.'),
});
export type IPBlock = Infer<typeof IPBlock>;

export const NetworkPolicyPeer = object('io.k8s.api.networking.v1.NetworkPolicyPeer', 'One end of traffic.', {
  podSelector: pointer(1, LabelSelector, 'Labels of pods.'),
  namespaceSelector: pointer(2, LabelSelector, 'Labels of namespaces.'),
  ipBlock: pointer(3, IPBlock, 'A range of addresses.'),
});
export type NetworkPolicyPeer = Infer<typeof NetworkPolicyPeer>;

export const NetworkPolicyIngressRule = object('io.k8s.api.networking.v1.NetworkPolicyIngressRule', 'Allowed incoming traffic.', {
  ports: field(1, listOf(NetworkPolicyPort), 'On which ports; all when absent.'),
  from: field(2, listOf(NetworkPolicyPeer), 'From whom; from all when absent.'),
});
export type NetworkPolicyIngressRule = Infer<typeof NetworkPolicyIngressRule>;

export const NetworkPolicyEgressRule = object('io.k8s.api.networking.v1.NetworkPolicyEgressRule', 'Traffic that may go out.', {
  ports: field(1, listOf(NetworkPolicyPort), 'To which ports; all when absent.'),
  to: field(2, listOf(NetworkPolicyPeer), 'To whom; to all when absent.'),
});
export type NetworkPolicyEgressRule = Infer<typeof NetworkPolicyEgressRule>;

export const NetworkPolicySpec = object('io.k8s.api.networking.v1.NetworkPolicySpec', 'Which pods, and which traffic.', {
  podSelector: always(1, LabelSelector, 'Labels of the pods that the policy is about; all of the namespace when empty.'),
  ingress: field(2, listOf(NetworkPolicyIngressRule), 'Allowed incoming traffic; none when empty.'),
  egress: field(3, listOf(NetworkPolicyEgressRule), 'Traffic that may go out; none when empty.'),
  policyTypes: field(4, listOf(named('v1.PolicyType')), 'Ingress, Egress or both: the directions that the policy limits.'),
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
  'Which traffic pods may receive and send.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, NetworkPolicySpec, 'Which pods, and which traffic.'),
  },
);
export type NetworkPolicy = Infer<typeof NetworkPolicy>;
