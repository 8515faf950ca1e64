import { endpointSlicesStrategy } from './discovery/endpoint-slices.ts';
import { ingressClassesStrategy } from './networking/ingress-classes.ts';
import { ingressesStrategy } from './networking/ingresses.ts';
import { ipAddressesStrategy } from './networking/ip-addresses.ts';
import { networkPoliciesStrategy } from './networking/network-policies.ts';
import { serviceCIDRsStrategy } from './networking/service-cidrs.ts';

/** networking.k8s.io, and the endpoints of discovery.k8s.io. */
export const NETWORKING_STRATEGIES = [
  ingressClassesStrategy,
  ingressesStrategy,
  ipAddressesStrategy,
  networkPoliciesStrategy,
  serviceCIDRsStrategy,
  endpointSlicesStrategy,
] as const;
