import { networkingV1beta1 } from '#api';
import { type RegistryGroup, registryGroup, versionOf, withVersions } from '../generic/registry-group.ts';
import { ingressClassesStrategy } from './ingress-classes.ts';
import { ingressesStrategy } from './ingresses.ts';
import { ipAddressesStrategy } from './ip-addresses.ts';
import { networkPoliciesStrategy } from './network-policies.ts';
import { serviceCIDRsStrategy } from './service-cidrs.ts';

export const NETWORKING: RegistryGroup = withVersions(
  registryGroup([ingressClassesStrategy, ingressesStrategy, ipAddressesStrategy, networkPoliciesStrategy, serviceCIDRsStrategy]),
  versionOf(ipAddressesStrategy, networkingV1beta1.IPAddress),
  versionOf(serviceCIDRsStrategy, networkingV1beta1.ServiceCIDR),
);
