/** The rules of one service port in one family: computed from objects, applied by any applier. */
export interface ServicePortRules {
  /** `namespace/name:port`, with the family. */
  readonly id: string;
  readonly namespace: string;
  readonly service: string;
  readonly family: 4 | 6;
  readonly protocol: Protocol;
  readonly frontends: readonly Frontend[];
  /** The session affinity timeout. */
  readonly affinitySeconds?: number;
}

export type Protocol = 'tcp' | 'udp' | 'sctp';

export interface ProxyEndpoint {
  readonly address: string;
  readonly port: number;
  /** On this node. */
  readonly isLocal: boolean;
}

/** An address and port that clients connect to. */
export interface Frontend {
  readonly kind: 'clusterIP' | 'externalIP' | 'loadBalancer' | 'nodePort';
  /** Absent for a node port, which is served at the node's addresses. */
  readonly address?: string;
  readonly port: number;
  /** For all clients, or with `localEndpoints` for cluster-internal ones. */
  readonly endpoints: readonly ProxyEndpoint[];
  /** externalTrafficPolicy Local: for external clients, without masquerading. */
  readonly localEndpoints?: readonly ProxyEndpoint[];
  /** internalTrafficPolicy Local without a local endpoint: traffic is dropped, not rejected. */
  readonly dropsUnserved?: true;
  /** Which clients are masqueraded: for cluster IPs only those that are not pods. */
  readonly masquerade: 'always' | 'not-pods';
  /** loadBalancerSourceRanges. Absent: unrestricted. */
  readonly sourceRanges?: readonly string[];
}

/** healthCheckNodePort: the number of local endpoints. */
export interface HealthCheck {
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  readonly localEndpoints: number;
}

export interface ServiceRules {
  readonly ports: readonly ServicePortRules[];
  readonly healthCheck?: HealthCheck;
}

/** Identifies a frontend: address, protocol and port are unique in a rule set. */
export function frontendId({ address, port }: Frontend, { protocol, family }: Pick<ServicePortRules, 'protocol' | 'family'>): string {
  return address === undefined ? `node/${family}/${protocol}/${port}` : `${address}/${protocol}/${port}`;
}
