import { apiextensions } from '#api';
import type { Clock, Logger, Random } from '#base';
import type { Client } from '#client';
import { formatTime, isStatusReason, type JsonValue, sameJson } from '#machinery';
import { ServiceAddresses } from '../admission/webhooks/service-addresses.ts';
import { WebhookClient } from '../admission/webhooks/webhook-client.ts';
import type { KubeObject } from '../registry/kube-object.ts';
import type { StorageDeps } from '../registry/resource-storage.ts';
import type { ResourceTable } from '../registry/resource-table.ts';
import { followCache } from '../watch-cache/follow-cache.ts';
import { CLEANUP_FINALIZER } from './cleanup-finalizer.ts';
import { type CustomResources, customResourcesOf } from './custom-resources.ts';
import { customScale } from './custom-scale.ts';
import { deleteInstances } from './delete-instances.ts';
import { namingOf } from './naming.ts';

type Definition = apiextensions.CustomResourceDefinition;
type Condition = apiextensions.CustomResourceDefinitionCondition;

export interface DefinitionsDeps extends StorageDeps {
  readonly table: ResourceTable;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: Random;
}

interface Serving {
  readonly spec: Definition['spec'];
  readonly resources: CustomResources;
}

const RETRY_MS = 1000;

/** Serves what custom resource definitions define, for as long as they are there. */
const DELETING: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};

export class DefinitionsController {
  readonly #deps: DefinitionsDeps;
  readonly #webhooks: WebhookClient;
  readonly #definitions = new Map<string, Definition>();
  readonly #serving = new Map<string, Serving>();
  readonly #pending = new Set<string>();
  #working: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: DefinitionsDeps) {
    this.#deps = deps;
    this.#webhooks = new WebhookClient(new ServiceAddresses(deps));
  }

  /** Resolves once every definition that is there is served. */
  async start(): Promise<void> {
    const { cache } = this.#deps.table.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')!.storage!;
    await followCache(cache, {
      reset: () => this.#definitions.clear(),
      put: (_key, object) => this.#changed(object),
      remove: (key) => this.#removed(key.slice(cache.prefix.length)),
    });
    await this.#working;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { resources } of this.#serving.values()) resources.storage.cache.close();
  }

  #changed(object: KubeObject): void {
    const definition = object as unknown as Definition;
    this.#definitions.set(definition.metadata.name, definition);
    this.#enqueue(definition.metadata.name);
  }

  #removed(name: string): void {
    this.#definitions.delete(name);
    this.#stopServing(name);
    // Names that it held are free for others now.
    for (const other of this.#definitions.keys()) this.#enqueue(other);
  }

  #enqueue(name: string): void {
    if (this.#isStopped) return;
    this.#pending.add(name);
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    await Promise.resolve();
    for (let [name] = this.#pending; name !== undefined && !this.#isStopped; [name] = this.#pending) {
      this.#pending.delete(name);
      await this.#sync(name).catch((error: unknown) => this.#failed(name as string, error));
    }
    // In the same turn in which nothing was left to do: what comes a turn later must find nobody at work.
    this.#working = undefined;
  }

  #failed(name: string, error: unknown): void {
    if (this.#isStopped) return;
    // Another write came first: its event brings the definition back.
    if (isStatusReason(error, 'Conflict') || isStatusReason(error, 'NotFound')) return;
    this.#deps.logger.warn('cannot serve a custom resource definition yet', { name, error });
    this.#deps.clock.setTimer(RETRY_MS, () => this.#enqueue(name));
  }

  async #sync(name: string): Promise<void> {
    const definition = this.#definitions.get(name);
    if (definition === undefined) return;
    if (definition.metadata.deletionTimestamp !== undefined) return this.#finish(definition);
    const current = await this.#settleNames(definition);
    if (isTrue(current, 'Established')) this.#serve(current);
  }

  /** The definition with its names accepted or refused, as its status tells. */
  async #settleNames(definition: Definition): Promise<Definition> {
    const others = [...this.#definitions.values()].filter(
      (other) => other.spec.group === definition.spec.group && other.metadata.name !== definition.metadata.name,
    );
    const { acceptedNames, namesAccepted, established } = namingOf(definition, others);
    const conditions = this.#withConditions(definition.status?.conditions ?? [], [namesAccepted, established, ...approvalOf(definition)]);
    const status = { ...definition.status, acceptedNames, conditions };
    if (sameJson(status as JsonValue, (definition.status ?? null) as JsonValue)) return definition;
    return this.#updateStatus({ ...definition, status } as Definition);
  }

  #withConditions(present: readonly Condition[], wanted: readonly Condition[]): readonly Condition[] {
    const now = formatTime(this.#deps.clock.now());
    const settled = wanted.map((condition) => {
      const before = present.find(({ type }) => type === condition.type);
      const lastTransitionTime = before?.status === condition.status && before.lastTransitionTime ? before.lastTransitionTime : now;
      return before && before.status === condition.status && before.reason === condition.reason && before.message === condition.message
        ? before
        : { ...condition, lastTransitionTime };
    });
    const types = new Set(wanted.map(({ type }) => type));
    return [...settled, ...present.filter(({ type }) => !types.has(type))];
  }

  async #updateStatus(definition: Definition): Promise<Definition> {
    const updated = await this.#deps.client.of(apiextensions.CustomResourceDefinition).updateStatus(definition);
    this.#definitions.set(updated.metadata.name, updated);
    return updated;
  }

  /** Under the names that were accepted, which others than those wished for may be. */
  #serve({ spec, ...rest }: Definition): void {
    const definition = { ...rest, spec: { ...spec, names: rest.status?.acceptedNames ?? spec.names } };
    const { name } = definition.metadata;
    const serving = this.#serving.get(name);
    if (serving !== undefined && sameJson(serving.spec as unknown as JsonValue, definition.spec as unknown as JsonValue)) return;
    const isTerminating = () => this.#definitions.get(name)?.metadata.deletionTimestamp !== undefined;
    const resources = customResourcesOf(definition, { ...this.#deps, webhooks: this.#webhooks, scale: customScale, isTerminating });
    this.#stopServing(name);
    this.#serving.set(name, { spec: definition.spec, resources });
    this.#deps.table.add(...resources.served);
  }

  #stopServing(name: string): void {
    const serving = this.#serving.get(name);
    if (serving === undefined) return;
    this.#serving.delete(name);
    this.#deps.table.remove(...serving.resources.served);
    serving.resources.storage.cache.close();
  }

  /** Objects go before their definition does. */
  async #finish(definition: Definition): Promise<void> {
    const { metadata } = definition;
    if (!metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    if (isTrue(definition, 'Established')) this.#serve(definition);
    const present = definition.status?.conditions ?? [];
    if (present.some(({ type, reason }) => type === DELETING.type && reason !== DELETING.reason)) {
      const conditions = present.map((condition) => (condition.type === DELETING.type ? { ...condition, ...DELETING } : condition));
      // The event of this write brings the definition back.
      await this.#updateStatus({ ...definition, status: { ...definition.status, conditions } } as Definition);
      return this.#enqueue(metadata.name);
    }
    const left = await this.#deleteInstances(definition);
    if (left > 0) {
      this.#deps.clock.setTimer(RETRY_MS, () => this.#enqueue(metadata.name));
      return;
    }
    const finalizers = metadata.finalizers.filter((name) => name !== CLEANUP_FINALIZER);
    await this.#deps.client.of(apiextensions.CustomResourceDefinition).update({ ...definition, metadata: { ...metadata, finalizers } });
  }

  /** How many of them something still holds. */
  async #deleteInstances({ metadata }: Definition): Promise<number> {
    const serving = this.#serving.get(metadata.name);
    return serving === undefined ? 0 : deleteInstances(serving.resources.storage, this.#deps.clock);
  }
}

function isTrue({ status }: Definition, condition: string): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === condition && value === 'True') === true;
}

const APPROVED = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes project itself are open to approved definitions only. */
function approvalOf({ spec, metadata }: Definition): readonly Condition[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group)) return [];
  const approval = metadata.annotations?.[APPROVED];
  const type = 'KubernetesAPIApprovalPolicyConformant';
  if (approval?.startsWith('unapproved')) {
    return [{ type, status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: "${approval}"` }];
  }
  return [{ type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${approval ?? ''}` }];
}
