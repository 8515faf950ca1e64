import { apiregistration, type core, type discovery } from '#api';
import type { Clock, Logger } from '#base';
import type { Client } from '#client';
import { formatTime, isStatusReason } from '#machinery';
import { followCache } from '../watch-cache/follow-cache.ts';
import { UNREACHABLE_REASONS, type Unreachable, whyUnreachable } from './apiregistration/unreachable.ts';
import type { ResourceTable } from './resource-table.ts';
import type { ServedResource } from './served-resource.ts';

type APIService = apiregistration.APIService;
type Condition = apiregistration.APIServiceCondition;

const SERVICE_LABEL = 'kubernetes.io/service-name';
const AVAILABLE = 'Available';

export interface RemoteApiServicesDeps {
  readonly table: ResourceTable;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tells of each API that another server is to serve whether there is such a server. Most clusters have none: then nothing is watched. */
export class RemoteApiServices {
  readonly #deps: RemoteApiServicesDeps;
  readonly #remote = new Map<string, APIService>();
  #watchesServices = false;
  #isStopped = false;

  constructor(deps: RemoteApiServicesDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await followCache(this.#served('apiregistration.k8s.io', 'apiservices').storage!.cache, {
      reset: () => this.#remote.clear(),
      put: (key, object) => this.#put(key, object as unknown as APIService),
      remove: (key) => void this.#remote.delete(key),
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  #served(group: string, resource: string): ServedResource {
    return this.#deps.table.find(group, 'v1', resource)!;
  }

  #put(key: string, service: APIService): void {
    if (service.spec?.service === undefined) return void this.#remote.delete(key);
    this.#remote.set(key, service);
    this.#watchServices();
    this.#settle(key);
  }

  #watchServices(): void {
    if (this.#watchesServices) return;
    this.#watchesServices = true;
    const settleAll = () => {
      for (const key of this.#remote.keys()) this.#settle(key);
    };
    const follower = { reset: () => {}, put: settleAll, remove: settleAll };
    for (const cache of [this.#served('', 'services'), this.#served('discovery.k8s.io', 'endpointslices')]) {
      void followCache(cache.storage!.cache, follower).catch((error: unknown) =>
        this.#deps.logger.warn('cannot watch services', { error }),
      );
    }
  }

  /** What a cache tells is told in the middle of a write: the answer comes after it. */
  #settle(key: string): void {
    queueMicrotask(() => void this.#check(key).catch((error: unknown) => this.#failed(key, error)));
  }

  async #check(key: string): Promise<void> {
    const service = this.#remote.get(key);
    const reference = service?.spec?.service;
    if (this.#isStopped || service === undefined || reference === undefined) return;
    const wanted = whyUnreachable(reference, await this.#backing(reference));
    const now = conditionOf(service);
    // Whether a server that might answer does so is for others to tell: only what was told here, and holds no more, is taken back.
    if (wanted === undefined ? !isUnreachable(now) : now?.reason === wanted.reason && now.message === wanted.message) return;
    const conditions = wanted ? [this.#condition(wanted, now)] : [];
    const others = service.status?.conditions?.filter(({ type }) => type !== AVAILABLE) ?? [];
    await this.#deps.client.of(apiregistration.APIService).updateStatus({ ...service, status: { conditions: [...others, ...conditions] } });
  }

  async #backing({ name = '', namespace = '' }: apiregistration.ServiceReference) {
    const found = await this.#served('', 'services').storage!.get(namespace, name);
    const slices = this.#served('discovery.k8s.io', 'endpointslices').storage!;
    await slices.cache.fresh();
    const all = [...slices.cache.objects(slices.prefixOf(namespace))].map(({ object }) => object as unknown as discovery.EndpointSlice);
    return {
      service: found?.object as core.Service | undefined,
      slices: all.filter(({ metadata }) => metadata.labels?.[SERVICE_LABEL] === name),
    };
  }

  #condition({ reason, message }: Unreachable, before: Condition | undefined): Condition {
    const isSame = before?.status === 'False';
    const lastTransitionTime = (isSame && before.lastTransitionTime) || formatTime(this.#deps.clock.now());
    return { type: AVAILABLE, status: 'False', lastTransitionTime, reason, message };
  }

  #failed(key: string, error: unknown): void {
    // Another write came first, or the object went: its next event brings it back.
    if (this.#isStopped || isStatusReason(error, 'Conflict') || isStatusReason(error, 'NotFound')) return;
    this.#deps.logger.warn('cannot tell whether an API service can be reached', { key, error });
  }
}

function conditionOf({ status }: APIService): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === AVAILABLE);
}

function isUnreachable(condition: Condition | undefined): boolean {
  return condition?.status === 'False' && UNREACHABLE_REASONS.has(condition.reason ?? '');
}
