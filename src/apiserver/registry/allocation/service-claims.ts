import type { Clock, Logger, Random } from '#base';
import type { Store } from '#store';
import type { CatalogOptions } from '../catalog.ts';
import type { IpFamily } from '../core/service-allocation.ts';
import type { ResourceStorage } from '../resource-storage.ts';
import type { ResourceTable } from '../resource-table.ts';
import { AllocationRepair } from './allocation-repair.ts';
import { ClusterIps } from './cluster-ips.ts';
import { NodePorts, type PortRange } from './node-ports.ts';
import { ServiceAllocator } from './service-allocator.ts';

export interface ServicesConfig {
  /** One range, or one of each family; the family of the first is the default. */
  readonly clusterIpRanges: readonly string[];
  readonly nodePortRange: PortRange;
}

export const DEFAULT_SERVICES: ServicesConfig = { clusterIpRanges: ['10.96.0.0/16'], nodePortRange: { first: 30000, last: 32767 } };

export interface ServiceClaimsDeps {
  readonly table: ResourceTable;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface Parts {
  readonly allocator: ServiceAllocator;
  readonly repair: AllocationRepair;
}

/** What services claim in the cluster, made once the table that it works on is filled. */
export class ServiceClaims {
  readonly #config: ServicesConfig;
  readonly #deps: ServiceClaimsDeps;
  #made: Parts | undefined;

  constructor(config: ServicesConfig, deps: ServiceClaimsDeps) {
    this.#config = config;
    this.#deps = deps;
  }

  /** The catalog, with services that claim what they need. */
  extend(catalog: CatalogOptions): CatalogOptions {
    const services: CatalogOptions['extras'][string] = {
      reserve: (object, old, dryRun) => this.#parts().allocator.reserve(object, old, dryRun),
      released: (object) => this.#parts().allocator.released(object),
    };
    return { ...catalog, extras: { ...catalog.extras, '/services': { ...services, ...catalog.extras['/services'] } } };
  }

  /** Before the first request: afterwards every address and port that a service uses is claimed. */
  repair(): Promise<void> {
    return this.#parts().repair.start(this.#deps.store.localReads);
  }

  /** Goes on repairing until the signal. */
  keepRepaired(signal: AbortSignal): Promise<void> {
    return this.#parts().repair.run(signal);
  }

  #parts(): Parts {
    this.#made ??= this.#make();
    return this.#made;
  }

  #make(): Parts {
    const { store, clock, random, logger } = this.#deps;
    const { clusterIpRanges, nodePortRange } = this.#config;
    const addresses = this.#storage('networking.k8s.io', 'ipaddresses');
    const clusterIps = new ClusterIps({ addresses, ranges: this.#storage('networking.k8s.io', 'servicecidrs'), clock, random });
    const nodePorts = new NodePorts(store, random, nodePortRange);
    const families = clusterIpRanges.map((range): IpFamily => (range.includes(':') ? 'IPv6' : 'IPv4'));
    return {
      allocator: new ServiceAllocator({ clusterIps, nodePorts, families }),
      repair: new AllocationRepair({ services: this.#storage('', 'services'), addresses, clusterIps, nodePorts, clock, logger }),
    };
  }

  #storage(group: string, resource: string): ResourceStorage {
    const storage = this.#deps.table.find(group, 'v1', resource)?.storage;
    if (storage === undefined) throw new Error(`${resource} are not served`);
    return storage;
  }
}
