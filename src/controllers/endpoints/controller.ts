import { core } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { formatTime, isStatusReason, StatusError } from '#machinery';
import { ignoreGone } from '../endpointslice/controller.ts';
import { followSelectedPods } from '../endpointslice/selected-pods.ts';
import { TRIGGER_TIME, TriggerTimes } from '../endpointslice/trigger-times.ts';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { OwnWrites } from '../runtime/own-writes.ts';
import { reconcileEndpoints } from './reconcile.ts';

const MAX_RETRIES = 15;
/** After this time the cache is asked again whether it shows what was written. */
const STALE_CACHE_MS = 500;
export const LEADER = 'control-plane.alpha.kubernetes.io/leader';

/** Keeps the Endpoints of services that select pods, for those who do not read slices. */
export const endpointsController: Controller = {
  name: 'endpoints-controller',
  aliases: ['endpoint'],
  enabledByDefault: true,
  start: startEndpoints,
};

function startEndpoints(context: ControllerContext): RunningController {
  const { informers, client, options } = context;
  const endpoints = informers.of(core.Endpoints);
  const triggers = new TriggerTimes();
  const ownWrites = new OwnWrites();
  /** Services whose last write may or may not have happened: its answer was lost. */
  const uncertain = new Set<string>();
  const sync = async (key: string): Promise<Requeue | undefined> => {
    // What was written may be right no longer, and the cache would hide that.
    if (!ownWrites.areSeen(key)) return { afterMs: STALE_CACHE_MS };
    const service = selected.services.get(parseKey(key));
    if (service === undefined) {
      triggers.forget(key);
      uncertain.delete(key);
      const orphan = endpoints.lister.get(parseKey(key));
      if (orphan !== undefined) await client.of(core.Endpoints).delete(orphan.metadata).catch(ignoreGone);
      return undefined;
    }
    if (service.spec?.selector === undefined || service.spec.type === 'ExternalName') return undefined;
    const pods = selected.of(service);
    const existing = uncertain.delete(key) ? await live(key) : endpoints.lister.get(service.metadata);
    const triggerTime = triggers.next(key, service, pods);
    const wanted = reconcileEndpoints(service, pods, existing);
    if (wanted !== existing) await write(service, triggered(wanted, triggerTime), existing !== undefined);
    return undefined;
  };
  const live = async (key: string): Promise<core.Endpoints | undefined> => {
    try {
      return await client.of(core.Endpoints).get(parseKey(key));
    } catch (error) {
      if (isGone(error)) return undefined;
      uncertain.add(key);
      throw error;
    }
  };
  const write = async (service: core.Service, wanted: core.Endpoints, exists: boolean): Promise<void> => {
    try {
      const endpointsClient = client.of(core.Endpoints);
      const written = exists ? await endpointsClient.update(wanted) : await endpointsClient.create(wanted);
      ownWrites.wrote(keyOf(service), endpoints, written);
    } catch (error) {
      if (!(error instanceof StatusError)) uncertain.add(keyOf(service));
      report(service, error, exists);
    }
  };
  const events = context.recorder('endpoint-controller');
  const report = (service: core.Service, error: unknown, exists: boolean): void => {
    if (error instanceof StatusError && error.hasCause('NamespaceTerminating')) return;
    const { message } = error as Error;
    const isRace = isStatusReason(error, 'Conflict') || isStatusReason(error, 'AlreadyExists');
    if (!isRace && exists) events.warning(service, 'FailedToUpdateEndpoint', `Failed to update endpoint ${keyOf(service)}: ${message}`);
    if (!isRace && !exists) {
      events.warning(service, 'FailedToCreateEndpoint', `Failed to create endpoint for service ${keyOf(service)}: ${message}`);
    }
    throw error;
  };
  const controller = new KeyedController(context, {
    name: 'endpoint',
    concurrency: options.concurrentEndpointSyncs,
    maxRetries: MAX_RETRIES,
    isExpected: (error) => isGone(error) || isStatusReason(error, 'AlreadyExists'),
    sync,
  });
  const selected = followSelectedPods(context, (service) => controller.enqueue(service));
  endpoints.addHandler({ delete: (gone) => controller.enqueue(gone) });
  // An election may still be held on Endpoints that no service has.
  const isOrphan = ({ metadata }: core.Endpoints) =>
    selected.services.get(metadata) === undefined && metadata.annotations?.[LEADER] === undefined;
  // Those whose service went while nobody watched.
  return {
    run: () => {
      for (const left of endpoints.lister.list()) if (isOrphan(left)) controller.enqueue(left);
      return controller.run();
    },
  };
}

function triggered(endpoints: core.Endpoints, time: number | undefined): core.Endpoints {
  const { [TRIGGER_TIME]: _, ...annotations } = endpoints.metadata.annotations ?? {};
  const next = time === undefined ? annotations : { ...annotations, [TRIGGER_TIME]: formatTime(time) };
  const { annotations: _before, ...metadata } = endpoints.metadata;
  return { ...endpoints, metadata: { ...metadata, ...(Object.keys(next).length > 0 && { annotations: next }) } };
}
