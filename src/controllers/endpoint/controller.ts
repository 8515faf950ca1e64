import { core } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { isStatusReason, StatusError } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { ignoreNotFound, LEADER_ANNOTATION } from '../runtime/endpoints/endpoint-slices.ts';
import { followSelectedPods } from '../runtime/endpoints/selected-pods.ts';
import { TriggerTimes, withTriggerTime } from '../runtime/endpoints/trigger-times.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { OwnWrites } from '../runtime/own-writes.ts';
import { reconcileEndpoints } from './reconcile.ts';

const MAX_RETRIES = 15;
/** The cache is checked again after this time. */
const STALE_CACHE_MS = 500;

/** Maintains Endpoints of services with selectors, for clients that do not read slices. */
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
  /** Services whose last write has an unknown outcome. */
  const uncertain = new Set<string>();
  const sync = async (key: string): Promise<Requeue | undefined> => {
    // The cache may still show the state before our last write.
    if (!ownWrites.clearSeen(key)) return { afterMs: STALE_CACHE_MS };
    const service = selected.services.get(parseKey(key));
    if (service === undefined) {
      triggers.forget(key);
      uncertain.delete(key);
      const orphan = endpoints.lister.get(parseKey(key));
      if (orphan !== undefined) await client.of(core.Endpoints).delete(orphan.metadata).catch(ignoreNotFound);
      return undefined;
    }
    if (service.spec?.selector === undefined || service.spec.type === 'ExternalName') return undefined;
    const pods = selected.of(service);
    const existing = uncertain.delete(key) ? await live(key) : endpoints.lister.get(service.metadata);
    const triggerTime = triggers.next(key, service, pods);
    const desired = reconcileEndpoints(service, pods, existing);
    if (desired !== existing) await write(service, withTriggerTime(desired, triggerTime), existing !== undefined);
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
  const write = async (service: core.Service, desired: core.Endpoints, exists: boolean): Promise<void> => {
    try {
      const endpointsClient = client.of(core.Endpoints);
      const written = exists ? await endpointsClient.update(desired) : await endpointsClient.create(desired);
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
    objects: informers.of(core.Service).lister,
    sync,
  });
  const selected = followSelectedPods(context, controller);
  endpoints.addHandler({ delete: (deleted) => controller.enqueue(deleted) });
  // Endpoints may also be leader election locks, which have no service.
  const isOrphan = ({ metadata }: core.Endpoints) =>
    selected.services.get(metadata) === undefined && metadata.annotations?.[LEADER_ANNOTATION] === undefined;
  // Endpoints whose service was deleted while the controller was not running.
  return {
    run: () => {
      for (const left of endpoints.lister.list()) if (isOrphan(left)) controller.enqueue(left);
      return controller.run();
    },
  };
}
