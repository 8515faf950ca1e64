import type { Component, Logger } from '#base';
import type { CsiDriver } from '../csi-drivers.ts';

/** Starts the controllers of a CSI driver. Supervised: restarted on failure. */
export type StartDriverController = (driver: CsiDriver) => Component;

/** Runs one controller for each registered driver of the node that has a controller service. */
export class CsiControllers implements AsyncDisposable {
  readonly #running = new Map<string, Component>();
  readonly #registered = new Map<string, CsiDriver>();

  constructor(
    private readonly start: StartDriverController,
    private readonly logger: Logger,
  ) {}

  async begin(driver: CsiDriver): Promise<void> {
    await this.end(driver.name);
    this.#registered.set(driver.name, driver);
    try {
      if (!(await driver.hasController())) return;
    } catch (error) {
      this.logger.warn('cannot determine whether a driver has a controller service', { driver: driver.name, error });
      return;
    }
    // The driver may have been deregistered in the meantime.
    if (this.#registered.get(driver.name) !== driver) return;
    const component = this.start(driver);
    component.ready.catch(() => {});
    this.#running.set(driver.name, component);
  }

  async end(name: string): Promise<void> {
    this.#registered.delete(name);
    const component = this.#running.get(name);
    this.#running.delete(name);
    await component?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#registered.keys()].map((name) => this.end(name)));
  }
}
