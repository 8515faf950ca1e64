import type { core, discovery, networking } from '#api';
import { formatIp, parseCidr, parseIp } from '#base';

/** The service through which pods reach the API server, with its endpoints. */
export const KUBERNETES = 'kubernetes';
const NAMESPACE = 'default';
const PORT_NAME = 'https';

interface ServicePlan {
  readonly clusterIP: string;
  /** The port that the service listens on: 443. */
  readonly port: number;
  /** The port that the servers listen on. */
  readonly targetPort: number;
  /** Set when the service is also exposed as a node port. */
  readonly nodePort?: number;
}

/** The first address of the first range is the service's. */
export function kubernetesServiceIp(cidr: string): string {
  const network = parseCidr(cidr);
  if (!network) throw new RangeError(`not a range of addresses: ${cidr}`);
  return formatIp({ family: network.family, value: network.base + 1n });
}

export function kubernetesService({ clusterIP, port, targetPort, nodePort }: ServicePlan): core.Service {
  return {
    metadata: { name: KUBERNETES, namespace: NAMESPACE, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      ports: [{ name: PORT_NAME, protocol: 'TCP', port, targetPort, ...(nodePort && { nodePort }) }],
      clusterIP,
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      type: nodePort ? 'NodePort' : 'ClusterIP',
    },
  };
}

interface Servers {
  readonly addresses: readonly string[];
  readonly port: number;
}

/** The addresses of the servers as Endpoints. The label prevents mirroring: the slice is written here. */
export function kubernetesEndpoints({ addresses, port }: Servers): core.Endpoints {
  return {
    metadata: { name: KUBERNETES, namespace: NAMESPACE, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ name: PORT_NAME, port, protocol: 'TCP' }] }],
  };
}

export function kubernetesEndpointSlice({ addresses, port }: Servers): discovery.EndpointSlice {
  const isV6 = (ip: string) => parseIp(ip)?.family === 6;
  const allV6 = addresses.length > 0 && addresses.every(isV6);
  return {
    metadata: { name: KUBERNETES, namespace: NAMESPACE, labels: { 'kubernetes.io/service-name': KUBERNETES } },
    addressType: allV6 ? 'IPv6' : 'IPv4',
    endpoints: addresses.filter((ip) => isV6(ip) === allV6).map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
    ports: [{ name: PORT_NAME, protocol: 'TCP', port }],
  };
}

/** The default ServiceCIDR. */
export function kubernetesServiceCidr(cidrs: readonly string[]): networking.ServiceCIDR {
  return { metadata: { name: KUBERNETES }, spec: { cidrs } };
}
