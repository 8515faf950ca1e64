import { core, discovery } from '#api';
import { parseKey } from '#client';
import { StatusError } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { draft, ignoreNotFound, LEADER_ANNOTATION, MANAGED_BY, serviceKey, sliceService } from '../runtime/endpoints/endpoint-slices.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { WrittenObjects } from '../runtime/written-objects.ts';
import { MIRROR_MANAGER, mirrorEndpoints } from './reconcile.ts';

const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror';
const MAX_RETRIES = 15;

/** Mirrors user-managed Endpoints of services without a selector into slices. */
export const endpointSliceMirroringController: Controller = {
  name: 'endpointslice-mirroring-controller',
  aliases: ['endpointslicemirroring'],
  enabledByDefault: true,
  start: (context) => new MirroringController(context),
};

class MirroringController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #written = new WrittenObjects();

  constructor(private readonly context: ControllerContext) {
    const { informers, options } = context;
    this.#keyed = new KeyedController(context, {
      name: 'endpoint_slice_mirroring',
      concurrency: options.mirroringConcurrentServiceEndpointSyncs,
      maxRetries: MAX_RETRIES,
      isExpected: isGone,
      objects: informers.of(core.Endpoints).lister,
      sync: (key) => this.#sync(key),
    });
    informers.of(core.Endpoints).addHandler(this.#keyed.handler());
    informers.of(core.Service).addHandler(this.#keyed.handler());
    const enqueueService = (slice: discovery.EndpointSlice) => {
      if (isMirrored(slice)) this.#keyed.queue.add(serviceKey(slice));
    };
    informers
      .of(discovery.EndpointSlice)
      .addIndex('service', sliceService)
      .addHandler({
        add: enqueueService,
        update: (_, slice) => enqueueService(slice),
        delete: (slice) => {
          this.#written.observedDeletion(serviceKey(slice), slice);
          enqueueService(slice);
        },
      });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  async #sync(key: string): Promise<void> {
    const { informers, options } = this.context;
    const endpoints = informers.of(core.Endpoints).lister.get(parseKey(key));
    const service = informers.of(core.Service).lister.get(parseKey(key));
    const slices = informers.of(discovery.EndpointSlice).lister.byIndex('service', key).filter(isMirrored);
    if (this.#written.isStale(key, slices)) return;
    if (endpoints === undefined || !isForMirroring(endpoints) || service === undefined || service.spec?.selector !== undefined) {
      this.#written.forget(key);
      return this.#remove(key, slices);
    }
    const changes = mirrorEndpoints(endpoints, slices, options.mirroringMaxEndpointsPerSubset);
    this.#warn(endpoints, changes);
    const client = this.context.client.of(discovery.EndpointSlice);
    try {
      for (const slice of changes.update) this.#written.wrote(key, await client.update(slice));
      for (const slice of changes.create) this.#written.wrote(key, await client.create(draft(slice)));
    } catch (error) {
      if (error instanceof StatusError && error.hasCause('NamespaceTerminating')) return;
      throw error;
    }
    await this.#remove(key, changes.remove);
  }

  async #remove(key: string, slices: readonly discovery.EndpointSlice[]): Promise<void> {
    for (const slice of slices) {
      await this.context.client.of(discovery.EndpointSlice).delete(slice.metadata).catch(ignoreNotFound);
      this.#written.deleted(key, slice);
    }
  }

  #warn(endpoints: core.Endpoints, { invalid, excess }: { readonly invalid: number; readonly excess: number }): void {
    const events = this.context.recorder('endpoint-slice-mirroring-controller');
    if (invalid > 0) {
      events.warning(endpoints, 'InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`);
    }
    if (excess === 0) return;
    const max = this.context.options.mirroringMaxEndpointsPerSubset;
    const text = `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ${excess + invalid} addresses were skipped`;
    events.warning(endpoints, 'TooManyAddressesToMirror', text);
  }
}

function isMirrored({ metadata }: discovery.EndpointSlice): boolean {
  return metadata.labels?.[MANAGED_BY] === MIRROR_MANAGER;
}

function isForMirroring({ metadata }: core.Endpoints): boolean {
  return metadata.labels?.[SKIP_MIRROR] !== 'true' && metadata.annotations?.[LEADER_ANNOTATION] === undefined;
}
