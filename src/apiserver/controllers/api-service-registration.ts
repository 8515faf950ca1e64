import { type apiextensions, apiregistration } from '#api';
import type { Logger } from '#base';
import type { Client } from '#client';
import { isStatusReason, type JsonValue, sameJson } from '#machinery';
import { isManagedContinuously, type LocalApiService, localApiService } from '../bootstrap/local-api-services.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';

type Definition = apiextensions.CustomResourceDefinition;
type APIService = apiregistration.APIService;

export interface RegistrationDeps {
  readonly table: ResourceTable;
  readonly client: Client;
  readonly logger: Logger;
}

/** Maintains an APIService for each served version of custom resources. */
export class ApiServiceRegistration {
  readonly #deps: RegistrationDeps;
  readonly #definitions = new Map<string, Definition>();
  readonly #services = new Map<string, APIService>();
  readonly #pending = new Set<string>();
  #working: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: RegistrationDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.#cache('apiextensions.k8s.io', 'customresourcedefinitions').follow({
      put: (key, object) => this.#define(key, object),
      remove: (key) => this.#define(key, undefined),
    });
    const services = this.#cache('apiregistration.k8s.io', 'apiservices');
    await services.follow({
      put: (key, object) => this.#register(key.slice(services.prefix.length), object),
      remove: (key) => this.#register(key.slice(services.prefix.length), undefined),
    });
    await this.#working;
  }

  stop(): void {
    this.#isStopped = true;
  }

  #cache(group: string, resource: string) {
    return this.#deps.table.storage(group, 'v1', resource).cache;
  }

  #define(key: string, object: KubeObject | undefined): void {
    const before = this.#definitions.get(key);
    const now = object as unknown as Definition | undefined;
    if (now === undefined) this.#definitions.delete(key);
    else this.#definitions.set(key, now);
    for (const { metadata } of [...servicesOf(before), ...servicesOf(now)]) this.#enqueue(metadata.name);
  }

  #register(name: string, object: KubeObject | undefined): void {
    if (object === undefined) this.#services.delete(name);
    else this.#services.set(name, object as unknown as APIService);
    this.#enqueue(name);
  }

  #enqueue(name: string): void {
    const current = this.#services.get(name);
    if (this.#isStopped || isSettled(current, this.#desired(name))) return;
    this.#pending.add(name);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  #desired(name: string): LocalApiService | undefined {
    for (const definition of this.#definitions.values()) {
      const service = servicesOf(definition).find(({ metadata }) => metadata.name === name);
      if (service !== undefined) return service;
    }
    return undefined;
  }

  /** Deferred: cache events arrive in the middle of a write. */
  async #work(): Promise<void> {
    await Promise.resolve();
    for (let [name] = this.#pending; name !== undefined && !this.#isStopped; [name] = this.#pending) {
      this.#pending.delete(name);
      await this.#sync(name).catch((error: unknown) => this.#failed(name as string, error));
    }
  }

  async #sync(name: string): Promise<void> {
    const current = this.#services.get(name);
    const desired = this.#desired(name);
    if (isSettled(current, desired)) return;
    const services = this.#deps.client.of(apiregistration.APIService);
    if (current === undefined) await services.create(desired as unknown as APIService);
    else if (desired === undefined) await services.delete({ name }, { preconditions: { uid: current.metadata.uid! } });
    else await services.update({ ...current, spec: desired.spec });
  }

  #failed(name: string, error: unknown): void {
    // Conflict: the event of the other write retries it.
    const isRace = RACES.some((reason) => isStatusReason(error, reason));
    if (!this.#isStopped && !isRace) this.#deps.logger.warn('cannot register a version of custom resources', { name, error });
  }
}

const RACES = ['AlreadyExists', 'Conflict', 'NotFound'] as const;

/** APIServices that users created are left alone. */
function isSettled(current: APIService | undefined, desired: LocalApiService | undefined): boolean {
  if (current === undefined) return desired === undefined;
  if (!isManagedContinuously(current.metadata.labels)) return true;
  return desired !== undefined && sameJson(current.spec as unknown as JsonValue, desired.spec as unknown as JsonValue);
}

function servicesOf(definition: Definition | undefined): readonly LocalApiService[] {
  if (definition === undefined) return [];
  const { group, versions } = definition.spec;
  return (versions ?? []).filter(({ served }) => served).map(({ name }) => localApiService({ group, version: name }));
}
