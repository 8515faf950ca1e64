import type { core } from '#api';
import type { StatusError } from '#machinery';
import {
  allocationsFor,
  clusterIpError,
  type IpFamily,
  nodePortError,
  releasesOf,
  type ServiceAllocations,
  withAllocated,
} from '../core/service-allocation.ts';
import type { KubeObject } from '../kube-object.ts';
import type { Reservation } from '../served-resource.ts';
import { AllocationError, type ClusterIps, type ServiceName } from './cluster-ips.ts';
import type { NodePorts } from './node-ports.ts';

export interface ServiceAllocatorDeps {
  readonly clusterIps: ClusterIps;
  readonly nodePorts: NodePorts;
  /** Those the cluster has addresses of, the default first. */
  readonly families: readonly IpFamily[];
}

interface Claims {
  readonly clusterIPs: string[];
  readonly nodePorts: number[];
  healthCheckNodePort?: number;
}

/** Claims what services need before they are stored, and gives back what they no longer use. */
export class ServiceAllocator {
  constructor(private readonly deps: ServiceAllocatorDeps) {}

  async reserve(object: KubeObject, old: KubeObject | undefined, dryRun: boolean): Promise<Reservation> {
    const plan = allocationsFor(object as unknown as core.Service, old as unknown as core.Service | undefined, this.deps.families);
    const claims: Claims = { clusterIPs: [], nodePorts: [] };
    // Given back at most once: by then somebody else may have claimed the same.
    let isHeld = !dryRun;
    const release = async () => {
      if (isHeld) {
        isHeld = false;
        await this.#giveBack(claims);
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
        isHeld = false;
        await this.#giveBack({ clusterIPs: [...plan.release.clusterIPs], nodePorts: [...plan.release.nodePorts] });
      },
    };
  }

  async released(object: KubeObject): Promise<void> {
    const { clusterIPs, nodePorts } = releasesOf(object as unknown as core.Service);
    await this.#giveBack({ clusterIPs: [...clusterIPs], nodePorts: [...nodePorts] });
  }

  async #claimAll(plan: ServiceAllocations, claims: Claims, dryRun: boolean): Promise<void> {
    const { clusterIps, nodePorts } = this.deps;
    const service = nameOf(plan);
    for (const { family, ip } of plan.clusterIPs) {
      claims.clusterIPs.push(await orRefuse(clusterIps.claim(service, family, ip, dryRun), (why) => clusterIpError(plan, why, ip)));
    }
    for (const need of plan.nodePorts) {
      claims.nodePorts.push(await orRefuse(nodePorts.claim(service, need.port, dryRun), (why) => nodePortError(plan, need, why)));
    }
    if (plan.healthCheckNodePort === undefined) return;
    claims.healthCheckNodePort = await orRefuse(nodePorts.claim(service, plan.healthCheckNodePort.port, dryRun), (why) =>
      nodePortError(plan, { index: 0, indices: [] }, `failed to allocate HealthCheck NodePort: ${why}`),
    );
  }

  async #giveBack({ clusterIPs, nodePorts, healthCheckNodePort }: Claims): Promise<void> {
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

async function orRefuse<T>(claim: Promise<T>, refusal: (why: string) => StatusError): Promise<T> {
  try {
    return await claim;
  } catch (error) {
    throw error instanceof AllocationError ? refusal(error.message) : error;
  }
}
