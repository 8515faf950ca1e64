import { core, discovery } from '#api';
import { AsyncMutex, type Clock, type Component, KernelNetwork, type Logger, type Random, raceAbort, repeat, runComponent } from '#base';
import { type Client, InformerFactory, type SharedInformer } from '#client';
import { announcedAddresses } from './announced-addresses.ts';
import { Announcer } from './announcer.ts';

export interface AddressAnnouncerConfig {
  readonly nodeName: string;
  /** The load balancer ranges. */
  readonly ranges: readonly string[];
}

export interface AddressAnnouncerDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: the network of this process. */
  readonly kernel?: KernelNetwork;
}

const SERVICE_LABEL = 'kubernetes.io/service-name';
const BY_SERVICE = 'by-service';
/** The repair interval: other programs may remove entries. */
const REPAIR_MS = 30_000;

/** Makes load balancer addresses reachable from the machine's networks: one node answers ARP and NDP for each. */
export function startAddressAnnouncer(config: AddressAnnouncerConfig, deps: AddressAnnouncerDeps, signal?: AbortSignal): Component {
  return runComponent(signal, ({ signal: stopping, ready }) => new AnnouncerRun(config, deps).run(stopping, ready));
}

class AnnouncerRun {
  readonly #announcer: Announcer;
  readonly #informers: InformerFactory;
  readonly #services: SharedInformer<core.Service>;
  readonly #nodes: SharedInformer<core.Node>;
  readonly #slices: SharedInformer<discovery.EndpointSlice>;
  readonly #mutex = new AsyncMutex();
  #wake: () => void = () => {};
  #isDirty = false;
  #announced = '';

  constructor(
    private readonly config: AddressAnnouncerConfig,
    private readonly deps: AddressAnnouncerDeps,
  ) {
    this.#announcer = new Announcer(deps.kernel ?? new KernelNetwork());
    this.#informers = new InformerFactory(deps.client, deps);
    this.#services = this.#informers.of(core.Service);
    this.#nodes = this.#informers.of(core.Node);
    this.#slices = this.#informers.of(discovery.EndpointSlice).addIndex(BY_SERVICE, ({ metadata }) => {
      return [`${metadata?.namespace ?? ''}/${metadata?.labels?.[SERVICE_LABEL] ?? ''}`];
    });
    const touch = () => {
      this.#isDirty = true;
      this.#wake();
    };
    const handler = { add: touch, update: touch, delete: touch };
    this.#services.addHandler(handler);
    this.#nodes.addHandler(handler);
    this.#slices.addHandler(handler);
  }

  async run(stopping: AbortSignal, ready: () => void): Promise<void> {
    const { clock } = this.deps;
    try {
      this.#informers.start(stopping);
      await raceAbort(this.#informers.synced(), stopping);
      await this.#sync(true);
      ready();
      // Failures are retried at the next repair.
      const onError = (error: unknown) => this.deps.logger.error('addresses of load balancers could not be announced', { error });
      await Promise.all([
        repeat({ clock, intervalMs: REPAIR_MS, signal: stopping, onError }, () => this.#sync(true)),
        repeat({ clock, intervalMs: 0, signal: stopping, onError }, () => this.#follow(stopping)),
      ]);
    } finally {
      await this.#informers.stop();
      await this.#announcer.remove();
    }
  }

  async #follow(stopping: AbortSignal): Promise<void> {
    if (!this.#isDirty) {
      const changed = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await raceAbort(changed, stopping);
    }
    this.#isDirty = false;
    await this.#sync(false);
  }

  #sync(isForced: boolean): Promise<void> {
    return this.#mutex.run(async () => {
      const addresses = announcedAddresses(this.config.nodeName, {
        ...{ services: this.#services.lister.list(), nodes: this.#nodes.lister.list(), ranges: this.config.ranges },
        slices: ({ metadata }) => this.#slices.lister.byIndex(BY_SERVICE, `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`),
      }).toSorted();
      const isNew = addresses.join() !== this.#announced;
      if (!isNew && !isForced) return;
      await this.#announcer.announce(addresses);
      this.#announced = addresses.join();
      if (isNew) this.deps.logger.info('the node answers for addresses of load balancers', { addresses });
    });
  }
}
