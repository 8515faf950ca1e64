import { core, discovery } from '#api';
import { keyOf, parseKey } from '#client';
import { isStatusReason, StatusError } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { draft, ignoreNotFound, MANAGED_BY, serviceKey, sliceService } from '../runtime/endpoints/endpoint-slices.ts';
import type { SliceChanges } from '../runtime/endpoints/pack-slices.ts';
import { followSelectedPods, type SelectedPods } from '../runtime/endpoints/selected-pods.ts';
import { TriggerTimes, withTriggerTime } from '../runtime/endpoints/trigger-times.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { WrittenObjects } from '../runtime/written-objects.ts';
import { HintedServices } from './hinted-services.ts';
import { MANAGER, reconcileSlices } from './reconcile.ts';
import { affectsZoneShares } from './zone-shares.ts';

const MAX_RETRIES = 15;

/** Maintains the endpoint slices of services with selectors. */
export const endpointSliceController: Controller = {
  name: 'endpointslice-controller',
  aliases: ['endpointslice'],
  enabledByDefault: true,
  start: (context) => new EndpointSliceController(context),
};

class EndpointSliceController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #selected: SelectedPods;
  readonly #written = new WrittenObjects();
  readonly #triggers = new TriggerTimes();
  readonly #hinted: HintedServices;

  constructor(private readonly context: ControllerContext) {
    const { informers, options } = context;
    this.#keyed = new KeyedController(context, {
      name: 'endpoint_slice',
      concurrency: options.concurrentServiceEndpointSyncs,
      maxRetries: MAX_RETRIES,
      isExpected: isGone,
      objects: informers.of(core.Service).lister,
      sync: (key) => this.#sync(key),
    });
    this.#selected = followSelectedPods(context, this.#keyed);
    const nodes = informers.of(core.Node);
    this.#hinted = new HintedServices(nodes.lister, context.recorder('endpoint-slice-controller'));
    nodes.addHandler({
      add: () => this.#nodesChanged(),
      update: (before, node) => this.#nodeUpdated(before, node),
      delete: () => this.#sharesChanged(),
    });
    const slices = informers.of(discovery.EndpointSlice).addIndex('service', sliceService);
    slices.addHandler({
      add: (slice) => this.#sliceChanged(slice),
      update: (before, slice) => this.#sliceUpdated(before, slice),
      delete: (slice) => {
        this.#written.observedDeletion(serviceKey(slice), slice);
        this.#sliceChanged(slice);
      },
    });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  #sliceChanged(slice: discovery.EndpointSlice): void {
    if (slice.metadata.labels?.[MANAGED_BY] === MANAGER) this.#keyed.queue.add(serviceKey(slice));
  }

  #sliceUpdated(before: discovery.EndpointSlice, slice: discovery.EndpointSlice): void {
    if (serviceKey(before) !== serviceKey(slice)) this.#sliceChanged(before);
    this.#sliceChanged(slice);
  }

  /** Pods on unknown nodes are left out until the node appears, and take its zone. */
  #nodeUpdated(before: core.Node, node: core.Node): void {
    const zone = 'topology.kubernetes.io/zone';
    if (before.metadata.labels?.[zone] !== node.metadata.labels?.[zone]) this.#nodesChanged();
    else if (affectsZoneShares(before, node)) this.#sharesChanged();
  }

  #sharesChanged(): void {
    for (const key of this.#hinted.sharesChanged()) this.#keyed.queue.add(key);
  }

  #nodesChanged(): void {
    this.#sharesChanged();
    for (const service of this.#selected.services.list()) this.#keyed.enqueue(service);
  }

  async #sync(key: string): Promise<void> {
    const { informers, options } = this.context;
    const service = this.#selected.services.get(parseKey(key));
    if (service === undefined) return this.#forget(key);
    if (service.spec?.selector === undefined || service.spec.type === 'ExternalName') return;
    const slices = informers.of(discovery.EndpointSlice).lister.byIndex('service', key).filter(isManaged);
    // The event of each write requeues the service.
    if (this.#written.isStale(key, slices)) return;
    const pods = this.#selected.of(service);
    const node = (name: string) => informers.of(core.Node).lister.get({ name });
    const shares = () => this.#hinted.shares;
    const changes = reconcileSlices({ service, pods, slices, node, shares }, options.maxEndpointsPerSlice);
    await this.#write(service, changes, this.#triggers.next(key, service, pods));
    this.#hinted.update(service, changes.zoneHints);
    if (changes.skipped.length > 0) throw new Error(`skipping Pod ${changes.skipped.join(', ')} for Service ${key}: Node Not Found`);
  }

  #forget(key: string): void {
    this.#written.forget(key);
    this.#triggers.forget(key);
    this.#hinted.forget(key);
  }

  async #write(service: core.Service, changes: SliceChanges, triggerTime: number | undefined): Promise<void> {
    const events = this.context.recorder('endpoint-slice-controller');
    const client = this.context.client.of(discovery.EndpointSlice);
    const key = keyOf(service);
    try {
      for (const slice of changes.update) this.#written.wrote(key, await client.update(withTriggerTime(slice, triggerTime)));
      if (service.metadata.deletionTimestamp === undefined) {
        for (const slice of changes.create) this.#written.wrote(key, await client.create(draft(withTriggerTime(slice, triggerTime))));
      }
      for (const slice of changes.remove) {
        await client.delete(slice.metadata).catch(ignoreNotFound);
        this.#written.deleted(key, slice);
      }
    } catch (error) {
      if (error instanceof StatusError && error.hasCause('NamespaceTerminating')) return;
      const message = `Error updating Endpoint Slices for Service ${key}: ${(error as Error).message}`;
      if (!isStatusReason(error, 'Conflict')) events.warning(service, 'FailedToUpdateEndpointSlices', message);
      throw error;
    }
  }
}

function isManaged({ metadata }: discovery.EndpointSlice): boolean {
  return metadata.labels?.[MANAGED_BY] === MANAGER;
}
