import { storage } from '#api';
import type { Clock, Logger, Random, TimerHandle } from '#base';
import { type Client, SharedInformer } from '#client';
import type { CsiDrivers } from './csi-drivers.ts';
import type { CsiNodeObject } from './csi-node-object.ts';

export interface VolumeLimitsDeps {
  /** With the node's identity. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly drivers: CsiDrivers;
  readonly csiNode: CsiNodeObject;
}

interface Period {
  readonly ms: number;
  timer: TimerHandle;
}

/** Asks drivers how many volumes they can attach, as often as `nodeAllocatableUpdatePeriodSeconds` of their CSIDriver objects says. */
export class VolumeLimits implements AsyncDisposable {
  /** The registered drivers. */
  readonly #names = new Set<string>();
  readonly #periods = new Map<string, Period>();
  /** Starts with the first driver: most nodes have none. */
  #options: SharedInformer<storage.CSIDriver> | undefined;
  #isClosed = false;

  constructor(private readonly deps: VolumeLimitsDeps) {}

  follow(name: string): void {
    if (this.#isClosed) return;
    this.#names.add(name);
    this.#options ??= this.#watchOptions();
    this.#schedule(name);
  }

  release(name: string): void {
    this.#names.delete(name);
    this.#schedule(name);
  }

  /** Rejects when the driver does not answer. */
  async refresh(name: string): Promise<void> {
    await this.deps.csiNode.refresh(name, await this.deps.drivers.get(name).nodeInfo());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const name of [...this.#names]) this.release(name);
    await this.#options?.stop();
  }

  #watchOptions(): SharedInformer<storage.CSIDriver> {
    const informer = new SharedInformer(this.deps.client.of(storage.CSIDriver), this.deps);
    const changed = ({ metadata }: storage.CSIDriver) => this.#schedule(metadata.name);
    informer.addHandler({ add: changed, update: (_, options) => changed(options), delete: changed });
    informer.begin();
    return informer;
  }

  #schedule(name: string): void {
    const ms = this.#periodMs(name);
    const before = this.#periods.get(name);
    if (ms === (before?.ms ?? 0)) return;
    before?.timer.cancel();
    this.#periods.delete(name);
    if (ms > 0) this.#periods.set(name, { ms, timer: this.#timer(name, ms) });
  }

  /** 0: never. */
  #periodMs(name: string): number {
    if (!this.#names.has(name)) return 0;
    const { nodeAllocatableUpdatePeriodSeconds: seconds = 0 } = this.#options?.lister.get({ name })?.spec ?? {};
    return Number(seconds) * 1000;
  }

  #timer(name: string, ms: number): TimerHandle {
    return this.deps.clock.setTimer(ms, () => void this.#refreshAgain(name));
  }

  /** Never rejects. The next one is due after this one: a driver that hangs is not asked twice at once. */
  async #refreshAgain(name: string): Promise<void> {
    const period = this.#periods.get(name);
    await this.refresh(name).catch((error: unknown) => {
      if (this.#names.has(name)) this.deps.logger.warn('the volume limit of a CSI driver could not be updated', { driver: name, error });
    });
    if (period !== undefined && this.#periods.get(name) === period) period.timer = this.#timer(name, period.ms);
  }
}
