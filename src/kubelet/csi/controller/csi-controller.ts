import { coordination } from '#api';
import { type Clock, type Component, type Logger, type Random, type Requeue, runComponent, runWorkers, WorkQueue } from '#base';
import { type Client, EventSink, InformerFactory } from '#client';
import { isStatusReason } from '#machinery';
import type { CsiDriver } from '../csi-drivers.ts';
import { ControllerGetCapabilities } from '../messages.ts';
import { attacherDuty } from './attacher.ts';
import { capacityDuty } from './capacity.ts';
import type { Duty, DutyDeps } from './duty.ts';
import { modifierDuty } from './modifier.ts';
import { provisionerDuty } from './provisioner.ts';
import { resizerDuty } from './resizer.ts';
import { snapshotContentDuty } from './snapshot-contents.ts';
import { ensureSnapshotDefinitions } from './snapshot-crds.ts';
import { snapshotDuty } from './snapshotter.ts';

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
 * Does the work of a CSI driver's sidecars: provisions, attaches, expands, modifies and snapshots volumes. A duty whose
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
    const duties = dutiesOf({ ...deps, driver: deps.driver.until(stopping), capabilities, informers, events });
    const sidecars = new Sidecars(duties, informers, deps.clock);
    const queue = new WorkQueue<string>({ clock: deps.clock });
    for (const duty of duties) duty.follow((key) => queue.add(`${duty.name}/${key}`));
    informers.start(stopping);
    try {
      await informers.synced();
      ready();
      const onError = (key: string, error: unknown) => {
        if (!stopping.aborted && !isStatusReason(error, 'Conflict'))
          deps.logger.warn('will try again', { queue: deps.driver.name, key, error });
      };
      const { concurrency = DEFAULT_CONCURRENCY } = config;
      await runWorkers({ queue, concurrency, signal: stopping, onError }, (key) => sync(key, duties, sidecars));
    } finally {
      queue.shutDown();
      await informers.stop();
      await sink.flushed();
    }
  });
}

function dutiesOf(deps: DutyDeps): readonly Duty[] {
  const { capabilities } = deps;
  return [
    attacherDuty(deps),
    resizerDuty(deps),
    ...(capabilities.has('CREATE_DELETE_VOLUME') ? [provisionerDuty(deps)] : []),
    ...(capabilities.has('MODIFY_VOLUME') ? [modifierDuty(deps)] : []),
    ...(capabilities.has('GET_CAPACITY') ? [capacityDuty(deps)] : []),
    ...(capabilities.has('CREATE_DELETE_SNAPSHOT') ? [snapshotDuty(deps), snapshotContentDuty(deps)] : []),
  ];
}

async function sync(key: string, duties: readonly Duty[], sidecars: Sidecars): Promise<Requeue | undefined> {
  const slash = key.indexOf('/');
  const duty = duties.find(({ name }) => name === key.slice(0, slash));
  if (duty === undefined) return undefined;
  return sidecars.isAtWork(duty) ? { afterMs: SIDECAR_RETRY_MS } : duty.sync(key.slice(slash + 1));
}

/** Detects from their leases which sidecars the driver's deployment includes. */
class Sidecars {
  constructor(
    duties: readonly Duty[],
    private readonly informers: InformerFactory,
    private readonly clock: Clock,
  ) {
    for (const duty of duties) this.#leases(duty);
  }

  isAtWork(duty: Duty): boolean {
    return this.#leases(duty)
      .lister.list()
      .some(({ spec }) => {
        const { holderIdentity, renewTime, leaseDurationSeconds = 0 } = spec ?? {};
        if (!holderIdentity || renewTime === undefined) return false;
        return Date.parse(renewTime) + leaseDurationSeconds * 1000 > this.clock.now();
      });
  }

  #leases({ sidecarLease }: Duty) {
    return this.informers.of(coordination.Lease, { fieldSelector: `metadata.name=${sidecarLease}` });
  }
}
