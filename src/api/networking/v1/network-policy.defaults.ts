import { fillUnset, mapField, mapItems } from '../../defaulting.ts';
import type { NetworkPolicy, NetworkPolicyPort, NetworkPolicySpec } from './network-policy.ts';

const EMPTY_SPEC: NetworkPolicySpec = {};

export function defaultNetworkPolicy(policy: NetworkPolicy): NetworkPolicy {
  const spec = defaultSpec(policy.spec ?? EMPTY_SPEC);
  return spec === policy.spec ? policy : { ...policy, spec };
}

/** A policy applies to ingress, and to egress if it has egress rules. */
function defaultSpec(spec: NetworkPolicySpec): NetworkPolicySpec {
  const withIngress = mapField(spec, 'ingress', (rules) => mapItems(rules, (rule) => mapField(rule, 'ports', defaultPorts)));
  const withEgress = mapField(withIngress, 'egress', (rules) => mapItems(rules, (rule) => mapField(rule, 'ports', defaultPorts)));
  if (withEgress.policyTypes?.length) return withEgress;
  return { ...withEgress, policyTypes: withEgress.egress?.length ? ['Ingress', 'Egress'] : ['Ingress'] };
}

function defaultPorts(ports: readonly NetworkPolicyPort[]): readonly NetworkPolicyPort[] {
  return mapItems(ports, (port) => fillUnset(port, { protocol: 'TCP' }));
}
