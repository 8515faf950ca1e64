import type { core, networking } from '#api';
import { type Clock, type Logger, repeat } from '#base';
import type { ClusterIps } from '../registry/core/allocation/cluster-ips.ts';
import type { NodePorts } from '../registry/core/allocation/node-ports.ts';
import type { ResourceStorage } from '../registry/generic/resource-storage.ts';
import { type Claim, planRepair } from './repair-plan.ts';

export interface AllocationRepairDeps {
  readonly services: ResourceStorage;
  readonly addresses: ResourceStorage;
  readonly clusterIps: ClusterIps;
  readonly nodePorts: NodePorts;
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 3 * 60_000;
/** The grace period of claims: a request that stores the service ends long before this. */
const GRACE_MS = 60_000;

/** Reconciles claimed addresses and ports with services: a server that stops during a request may leave claims behind. */
export class AllocationRepair {
  readonly #deps: AllocationRepairDeps;
  #suspects: ReadonlySet<number> = new Set();

  constructor(deps: AllocationRepairDeps) {
    this.#deps = deps;
  }

  /** `isAlone`: no other server has requests in flight. */
  async start(isAlone: boolean): Promise<void> {
    if (isAlone) this.#suspects = new Set((await this.#deps.nodePorts.all()).keys());
    await this.#repair(isAlone ? 0 : GRACE_MS);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    let isFresh = true;
    const onError = (error: unknown) => logger.error('cannot repair the claims of services', { error });
    await repeat({ clock, intervalMs: INTERVAL_MS, signal, onError }, async () => {
      if (!isFresh) await this.#repair(GRACE_MS);
      isFresh = false;
    });
  }

  async #repair(graceMs: number): Promise<void> {
    const { services, addresses, clusterIps, nodePorts, clock, logger } = this.#deps;
    // Claims are read before services, so that every service that is seen has its claims.
    await services.cache.fresh();
    const using = [...services.cache.objects()].map(({ object }) => object as unknown as core.Service);
    const ports = await nodePorts.all();
    await addresses.cache.fresh();
    const claimed = [...addresses.cache.objects()].map(({ object }) => object as unknown as networking.IPAddress);
    const plan = planRepair({ services: using, addresses: claimed, ports, now: clock.now(), graceMs });
    for (const { service, value } of plan.missingAddresses) {
      await this.#claim({ service, value }, clusterIps.claim(service, value.includes(':') ? 'IPv6' : 'IPv4', value));
    }
    for (const { service, value } of plan.missingPorts) await this.#claim({ service, value }, nodePorts.claim(service, value));
    for (const ip of plan.leakedAddresses) {
      logger.info('a cluster IP that no service uses is free again', { ip });
      await clusterIps.release(ip);
    }
    await this.#freePorts(plan.leakedPorts);
  }

  async #claim({ service, value }: Claim<string | number>, claiming: Promise<unknown>): Promise<void> {
    const { logger } = this.#deps;
    const claim = { namespace: service.namespace, name: service.name, value };
    await claiming.then(
      () => logger.info('allocated the cluster IPs and node ports of a service', claim),
      (error: unknown) => logger.warn('the cluster IPs or node ports of a service could not be allocated', { ...claim, error }),
    );
  }

  /** Ports have no creation time: they are freed if they were unused in the previous pass too. */
  async #freePorts(leaked: readonly number[]): Promise<void> {
    const { nodePorts, logger } = this.#deps;
    for (const port of leaked.filter((suspect) => this.#suspects.has(suspect))) {
      logger.info('a node port that no service uses is free again', { port });
      await nodePorts.release(port);
    }
    this.#suspects = new Set(leaked.filter((port) => !this.#suspects.has(port)));
  }
}
