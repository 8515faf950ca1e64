import type { core } from '#api';
import type { StatusError } from '#machinery';
import type { KubeObject } from '../../../watch-cache/kube-object.ts';
import type { Reservation } from '../../generic/served-resource.ts';
import { AllocationError, type ClusterIps, type ServiceName } from './cluster-ips.ts';
import type { NodePorts } from './node-ports.ts';
import {
  allocationsFor,
  clusterIpError,
  type IpFamily,
  nodePortError,
  releasesOf,
  type ServiceAllocations,
  withAllocated,
} from './service-allocation.ts';

export interface ServiceAllocatorDeps {
  readonly clusterIps: ClusterIps;
  readonly nodePorts: NodePorts;
  /** The cluster's families, the default first. */
  readonly families: readonly IpFamily[];
}

interface Claims {
  readonly clusterIPs: string[];
  readonly nodePorts: number[];
  healthCheckNodePort?: number;
}

/** Claims addresses and ports before a service is stored, and releases unused ones. */
export class ServiceAllocator {
  constructor(private readonly deps: ServiceAllocatorDeps) {}

  async reserve(object: KubeObject, old: KubeObject | undefined, dryRun: boolean): Promise<Reservation> {
    const plan = allocationsFor(object as unknown as core.Service, old as unknown as core.Service | undefined, this.deps.families);
    const claims: Claims = { clusterIPs: [], nodePorts: [] };
    // Released at most once: another service may have claimed the value since.
    let isAllocated = !dryRun;
    const release = async () => {
      if (isAllocated) {
        isAllocated = false;
        await this.#release(claims);
      }
    };
    try {
      await this.#claimAll(plan, claims, dryRun);
    } catch (error) {
      await release();
      throw error;
    }
    return {
      object: withAllocated(plan, claims) as unknown as KubeObject,
      release,
      commit: async () => {
        isAllocated = false;
        await this.#release({ clusterIPs: [...plan.release.clusterIPs], nodePorts: [...plan.release.nodePorts] });
      },
    };
  }

  async released(object: KubeObject): Promise<void> {
    const { clusterIPs, nodePorts } = releasesOf(object as unknown as core.Service);
    await this.#release({ clusterIPs: [...clusterIPs], nodePorts: [...nodePorts] });
  }

  async #claimAll(plan: ServiceAllocations, claims: Claims, dryRun: boolean): Promise<void> {
    const { clusterIps, nodePorts } = this.deps;
    const service = nameOf(plan);
    for (const { family, ip } of plan.clusterIPs) {
      claims.clusterIPs.push(
        await orStatusError(clusterIps.claim(service, family, ip, dryRun), (detail) => clusterIpError(plan, detail, ip)),
      );
    }
    for (const request of plan.nodePorts) {
      claims.nodePorts.push(
        await orStatusError(nodePorts.claim(service, request.port, dryRun), (detail) => nodePortError(plan, request, detail)),
      );
    }
    if (plan.healthCheckNodePort === undefined) return;
    claims.healthCheckNodePort = await orStatusError(nodePorts.claim(service, plan.healthCheckNodePort.port, dryRun), (detail) =>
      nodePortError(plan, { index: 0, indices: [] }, `failed to allocate HealthCheck NodePort: ${detail}`),
    );
  }

  async #release({ clusterIPs, nodePorts, healthCheckNodePort }: Claims): Promise<void> {
    const ports = healthCheckNodePort === undefined ? nodePorts : [...nodePorts, healthCheckNodePort];
    await Promise.all([
      ...clusterIPs.map((ip) => this.deps.clusterIps.release(ip)),
      ...ports.map((port) => this.deps.nodePorts.release(port)),
    ]);
  }
}

function nameOf({ service }: ServiceAllocations): ServiceName {
  return { namespace: service.metadata.namespace ?? '', name: service.metadata.name };
}

async function orStatusError<T>(claim: Promise<T>, toStatusError: (why: string) => StatusError): Promise<T> {
  try {
    return await claim;
  } catch (error) {
    throw error instanceof AllocationError ? toStatusError(error.message) : error;
  }
}
