import { core } from '#api';
import type { Labels } from '#machinery';
import { affinityTermsOf, NO_TERMS, type PodAffinityTerms } from './affinity-term.ts';
import { type PodRequests, podRequests, type QuantityReader, type ResourceAmounts } from './pod-resources.ts';

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const NO_LABELS: Labels = {};
const NO_PORTS: readonly HostPort[] = [];
const NO_CLAIMS: readonly string[] = [];

/** A pod with all that scheduling computes from it, computed once. */
export class PodInfo {
  /** The latest observed state; derived values stay valid, or the info is recreated. */
  pod: core.Pod;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly priority: number;
  readonly requests: ResourceAmounts;
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
  readonly hostPorts: readonly HostPort[];
  readonly affinity: PodAffinityTerms;
  /** Names of the persistent volume claims of its volumes. */
  readonly claims: readonly string[];
  #ephemeralClaims: ReadonlySet<string> | undefined;
  readonly isTerminating: boolean;

  constructor(pod: core.Pod, quantities: QuantityReader) {
    const { metadata, spec } = pod;
    const amounts: PodRequests = podRequests(pod, quantities);
    this.pod = pod;
    this.namespace = metadata.namespace ?? '';
    this.name = metadata.name;
    this.uid = metadata.uid ?? `${this.namespace}/${this.name}`;
    this.labels = (metadata.labels as Labels | undefined) ?? NO_LABELS;
    this.priority = spec?.priority ?? 0;
    this.requests = amounts.requests;
    this.nonZeroMilliCpu = amounts.nonZeroMilliCpu;
    this.nonZeroMemory = amounts.nonZeroMemory;
    this.hostPorts = hostPortsOf(spec);
    this.affinity = spec?.affinity == null ? NO_TERMS : affinityTermsOf(pod);
    this.claims = claimsOf(pod);
    this.isTerminating = metadata.deletionTimestamp != null;
  }

  get key(): string {
    return `${this.namespace}/${this.name}`;
  }

  get tolerations(): readonly core.Toleration[] {
    return this.pod.spec?.tolerations ?? [];
  }

  /** Names of the claims that are made for its ephemeral volumes. */
  get ephemeralClaims(): ReadonlySet<string> {
    const volumes = this.pod.spec?.volumes ?? [];
    this.#ephemeralClaims ??= new Set(volumes.filter(({ ephemeral }) => ephemeral).map(({ name }) => `${this.name}-${name}`));
    return this.#ephemeralClaims;
  }

  get hasAffinity(): boolean {
    return this.affinity !== NO_TERMS;
  }
}

function hostPortsOf(spec: core.PodSpec | undefined): readonly HostPort[] {
  let ports: HostPort[] | undefined;
  const collect = (containers: readonly core.Container[] | undefined, sidecarsOnly: boolean) => {
    for (const { ports: declared, restartPolicy } of containers ?? []) {
      if (declared === undefined || (sidecarsOnly && restartPolicy !== 'Always')) continue;
      for (const { hostPort = 0, hostIP = '', protocol = 'TCP' } of declared) {
        if (hostPort <= 0) continue;
        ports ??= [];
        ports.push({ ip: hostIP || '0.0.0.0', protocol: protocol || 'TCP', port: hostPort });
      }
    }
  };
  collect(spec?.initContainers, true);
  collect(spec?.containers, false);
  return ports ?? NO_PORTS;
}

function claimsOf({ metadata, spec }: core.Pod): readonly string[] {
  let claims: string[] | undefined;
  for (const volume of spec?.volumes ?? []) {
    const claim = core.volumeClaimName({ metadata }, volume);
    if (claim === undefined) continue;
    claims ??= [];
    claims.push(claim);
  }
  return claims ?? NO_CLAIMS;
}
