import type { Clock, Random } from '#base';
import type { Store } from '#store';
import type { CatalogOptions } from '../../generic/catalog.ts';
import { KEY_PREFIX, type ResourceStorage } from '../../generic/resource-storage.ts';
import type { ResourceTable } from '../../generic/resource-table.ts';
import { ClusterIps } from './cluster-ips.ts';
import { NodePorts, type PortRange } from './node-ports.ts';
import type { IpFamily } from './service-allocation.ts';
import { ServiceAllocator } from './service-allocator.ts';

export interface ServicesConfig {
  /** One range, or one per family; the first is the default family. */
  readonly clusterIpRanges: readonly string[];
  readonly nodePortRange: PortRange;
}

export const DEFAULT_SERVICES: ServicesConfig = { clusterIpRanges: ['10.96.0.0/16'], nodePortRange: { first: 30000, last: 32767 } };

export interface ServiceClaimsDeps {
  readonly table: ResourceTable;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly keyPrefix?: string | undefined;
}

export interface ServiceAllocation {
  readonly allocator: ServiceAllocator;
  readonly services: ResourceStorage;
  readonly addresses: ResourceStorage;
  readonly clusterIps: ClusterIps;
  readonly nodePorts: NodePorts;
}

/** The allocators of services, created once the resource table is filled. */
export class ServiceClaims {
  readonly #config: ServicesConfig;
  readonly #deps: ServiceClaimsDeps;
  #parts: ServiceAllocation | undefined;

  constructor(config: ServicesConfig, deps: ServiceClaimsDeps) {
    this.#config = config;
    this.#deps = deps;
  }

  /** The catalog extras for services. */
  extras(): CatalogOptions['extras'] {
    const services: CatalogOptions['extras'][string] = {
      reserve: (object, old, dryRun) => this.parts().allocator.reserve(object, old, dryRun),
      released: (object) => this.parts().allocator.released(object),
    };
    return { '/services': services };
  }

  /** The allocators and their storages. */
  parts(): ServiceAllocation {
    this.#parts ??= this.#make();
    return this.#parts;
  }

  #make(): ServiceAllocation {
    const { table, store, clock, random, keyPrefix = KEY_PREFIX } = this.#deps;
    const { clusterIpRanges, nodePortRange } = this.#config;
    const services = table.storage('', 'v1', 'services');
    const addresses = table.storage('networking.k8s.io', 'v1', 'ipaddresses');
    const clusterIps = new ClusterIps({ addresses, ranges: table.storage('networking.k8s.io', 'v1', 'servicecidrs'), clock, random });
    const nodePorts = new NodePorts(store, random, { range: nodePortRange, keyPrefix });
    const families = clusterIpRanges.map((range): IpFamily => (range.includes(':') ? 'IPv6' : 'IPv4'));
    return { allocator: new ServiceAllocator({ clusterIps, nodePorts, families }), services, addresses, clusterIps, nodePorts };
  }
}
