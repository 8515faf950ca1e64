import { type apiextensions, apiregistration } from '#api';
import type { Logger } from '#base';
import type { Client } from '#client';
import { isStatusReason, type JsonValue, sameJson } from '#machinery';
import { isManagedContinuously, type LocalApiService, localApiService } from '../registry/bootstrap/local-api-services.ts';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ResourceTable } from '../registry/resource-table.ts';
import { followCache } from '../watch-cache/follow-cache.ts';

type Definition = apiextensions.CustomResourceDefinition;
type APIService = apiregistration.APIService;

export interface RegistrationDeps {
  readonly table: ResourceTable;
  readonly client: Client;
  readonly logger: Logger;
}

/** Keeps an APIService for each version of a group in which custom resources are served, whoever changes or deletes it. */
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
    await followCache(this.#cache('apiextensions.k8s.io', 'customresourcedefinitions'), {
      reset: () => this.#definitions.clear(),
      put: (key, object) => this.#define(key, object),
      remove: (key) => this.#define(key, undefined),
    });
    const services = this.#cache('apiregistration.k8s.io', 'apiservices');
    await followCache(services, {
      reset: () => this.#services.clear(),
      put: (key, object) => this.#register(key.slice(services.prefix.length), object),
      remove: (key) => this.#register(key.slice(services.prefix.length), undefined),
    });
    await this.#working;
  }

  stop(): void {
    this.#isStopped = true;
  }

  #cache(group: string, resource: string) {
    return this.#deps.table.find(group, 'v1', resource)!.storage!.cache;
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
    if (this.#isStopped || isSettled(current, this.#wanted(name))) return;
    this.#pending.add(name);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  #wanted(name: string): LocalApiService | undefined {
    for (const definition of this.#definitions.values()) {
      const wanted = servicesOf(definition).find(({ metadata }) => metadata.name === name);
      if (wanted !== undefined) return wanted;
    }
    return undefined;
  }

  /** What the caches tell is told in the middle of a write: the answer comes after it. */
  async #work(): Promise<void> {
    await Promise.resolve();
    for (let [name] = this.#pending; name !== undefined && !this.#isStopped; [name] = this.#pending) {
      this.#pending.delete(name);
      await this.#sync(name).catch((error: unknown) => this.#failed(name as string, error));
    }
  }

  async #sync(name: string): Promise<void> {
    const current = this.#services.get(name);
    const wanted = this.#wanted(name);
    if (isSettled(current, wanted)) return;
    const services = this.#deps.client.of(apiregistration.APIService);
    if (current === undefined) await services.create(wanted as unknown as APIService);
    else if (wanted === undefined) await services.delete({ name }, { preconditions: { uid: current.metadata.uid! } });
    else await services.update({ ...current, spec: wanted.spec });
  }

  #failed(name: string, error: unknown): void {
    // Another write came first: its event brings the name back.
    const isRace = RACES.some((reason) => isStatusReason(error, reason));
    if (!this.#isStopped && !isRace) this.#deps.logger.warn('cannot register a version of custom resources', { name, error });
  }
}

const RACES = ['AlreadyExists', 'Conflict', 'NotFound'] as const;

/** What somebody else made of the name is left alone. */
function isSettled(current: APIService | undefined, wanted: LocalApiService | undefined): boolean {
  if (current === undefined) return wanted === undefined;
  if (!isManagedContinuously(current.metadata.labels)) return true;
  return wanted !== undefined && sameJson(current.spec as unknown as JsonValue, wanted.spec as unknown as JsonValue);
}

function servicesOf(definition: Definition | undefined): readonly LocalApiService[] {
  if (definition === undefined) return [];
  const { group, versions } = definition.spec;
  return (versions ?? []).filter(({ served }) => served).map(({ name }) => localApiService({ group, version: name }));
}
