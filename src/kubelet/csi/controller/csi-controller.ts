import { coordination } from '#api';
import { type Clock, type Component, type Logger, type Random, type Requeue, runComponent, runWorkers, WorkQueue } from '#base';
import { type Client, EventSink, InformerFactory } from '#client';
import { isStatusReason } from '#machinery';
import type { CsiDriver } from '../csi-drivers.ts';
import { ControllerGetCapabilities } from '../messages.ts';
import { attacherController } from './attacher.ts';
import { capacityController } from './capacity.ts';
import type { DriverController, DriverControllerDeps } from './driver-controller.ts';
import { modifierController } from './modifier.ts';
import { provisionerController } from './provisioner.ts';
import { resizerController } from './resizer.ts';
import { snapshotContentController } from './snapshot-contents.ts';
import { ensureSnapshotDefinitions } from './snapshot-crds.ts';
import { snapshotController } from './snapshotter.ts';
import { sourceProtectionController } from './source-protection.ts';

export interface CsiControllerConfig {
  /** The number of objects processed concurrently. */
  readonly concurrency?: number;
}

export interface CsiControllerDeps {
  readonly driver: CsiDriver;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const DEFAULT_CONCURRENCY = 10;
const SIDECAR_RETRY_MS = 15_000;

/**
 * Does the work of a CSI driver's sidecars: provisions, attaches, expands, modifies and snapshots volumes. A controller whose
 * sidecar runs in the cluster and holds its lease is left to the sidecar.
 */
export function startCsiController(config: CsiControllerConfig, deps: CsiControllerDeps, signal?: AbortSignal): Component {
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    const { capabilities: list } = await deps.driver.call(ControllerGetCapabilities, {}, stopping);
    const capabilities = new Set<string>(list.flatMap(({ rpc }) => rpc?.type ?? []));
    if (capabilities.has('CREATE_DELETE_SNAPSHOT')) await ensureSnapshotDefinitions(deps.client, deps.clock, stopping);
    const informers = new InformerFactory(deps.client, deps);
    const sink = new EventSink(deps, stopping);
    const events = sink.recorder({ component: deps.driver.name });
    const supportsTopology = (await deps.driver.services(stopping)).has('VOLUME_ACCESSIBILITY_CONSTRAINTS');
    const driver = deps.driver.until(stopping);
    const controllers = driverControllers({ ...deps, driver, capabilities, supportsTopology, informers, events });
    const sidecars = new Sidecars(controllers, informers, deps.clock);
    const queue = new WorkQueue<string>({ clock: deps.clock });
    for (const controller of controllers) controller.follow((key) => queue.add(`${controller.name}/${key}`));
    informers.start(stopping);
    try {
      await informers.synced();
      ready();
      const onError = (key: string, error: unknown) => {
        if (!stopping.aborted && !isStatusReason(error, 'Conflict'))
          deps.logger.warn('will try again', { queue: deps.driver.name, key, error });
      };
      const { concurrency = DEFAULT_CONCURRENCY } = config;
      await runWorkers({ queue, concurrency, signal: stopping, onError }, (key) => sync(key, controllers, sidecars));
    } finally {
      queue.shutDown();
      await informers.stop();
      await sink.flushed();
    }
  });
}

function driverControllers(deps: DriverControllerDeps): readonly DriverController[] {
  const { capabilities } = deps;
  return [
    attacherController(deps),
    resizerController(deps),
    ...(capabilities.has('CREATE_DELETE_VOLUME') ? [provisionerController(deps), sourceProtectionController(deps)] : []),
    ...(capabilities.has('MODIFY_VOLUME') ? [modifierController(deps)] : []),
    ...(capabilities.has('GET_CAPACITY') ? [capacityController(deps)] : []),
    ...(capabilities.has('CREATE_DELETE_SNAPSHOT') ? [snapshotController(deps), snapshotContentController(deps)] : []),
  ];
}

async function sync(key: string, controllers: readonly DriverController[], sidecars: Sidecars): Promise<Requeue | undefined> {
  const slash = key.indexOf('/');
  const controller = controllers.find(({ name }) => name === key.slice(0, slash));
  if (controller === undefined) return undefined;
  return sidecars.isAtWork(controller) ? { afterMs: SIDECAR_RETRY_MS } : controller.sync(key.slice(slash + 1));
}

/** Detects from their leases which sidecars the driver's deployment includes. */
class Sidecars {
  constructor(
    controllers: readonly DriverController[],
    private readonly informers: InformerFactory,
    private readonly clock: Clock,
  ) {
    for (const controller of controllers) this.#leases(controller);
  }

  isAtWork(controller: DriverController): boolean {
    return this.#leases(controller)
      .lister.list()
      .some(({ spec }) => {
        const { holderIdentity, renewTime, leaseDurationSeconds = 0 } = spec ?? {};
        if (!holderIdentity || renewTime === undefined) return false;
        return Date.parse(renewTime) + leaseDurationSeconds * 1000 > this.clock.now();
      });
  }

  #leases({ sidecarLease }: DriverController) {
    return this.informers.of(coordination.Lease, { fieldSelector: `metadata.name=${sidecarLease}` });
  }
}
