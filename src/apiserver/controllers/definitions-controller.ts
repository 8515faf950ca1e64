import { apiextensions } from '#api';
import { Backoff, type Clock, type Logger, type Random } from '#base';
import type { Client } from '#client';
import { formatTime, isStatusReason, type JsonValue, sameJson } from '#machinery';
import type { WebhookClient } from '../admission/webhooks/webhook-client.ts';
import { type WebhookNetwork, webhookClient } from '../admission/webhooks/webhook-context.ts';
import { type CustomResources, customResourcesOf } from '../crd/custom-resources.ts';
import { deleteInstances } from '../crd/delete-instances.ts';
import { namingOf } from '../crd/naming.ts';
import { CLEANUP_FINALIZER } from '../registry/apiextensions/cleanup-finalizer.ts';
import type { StorageDeps } from '../registry/generic/resource-storage.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';

type Definition = apiextensions.CustomResourceDefinition;
type Condition = apiextensions.CustomResourceDefinitionCondition;

export interface DefinitionsDeps extends StorageDeps, WebhookNetwork {
  readonly table: ResourceTable;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: Random;
}

interface ServedDefinition {
  readonly spec: Definition['spec'];
  readonly resources: CustomResources;
}

const RETRY_MS = 1000;

const DELETING: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};

/** How long the deletion of objects may take before the status reports it. */
const CHECK_MS = 60_000;
const UNCONFIRMED: Condition = {
  ...DELETING,
  reason: 'InstanceDeletionCheck',
  message: 'could not confirm zero CustomResources remaining: context deadline exceeded',
};
const DELETED: Condition = { type: 'Terminating', status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' };
const NOTHING_TO_DELETE: Condition = { ...DELETED, reason: 'NeverEstablished', message: 'resource was never established' };
const CHECK_BACKOFF = { initialMs: 5, maxMs: 1_000_000, jitter: 0 };

/** A definition whose objects have finalizers. */
interface TerminatingDefinition {
  readonly backoff: Backoff;
  checkAt: number;
  /** Until then the failed check is shown in the status. */
  resumeAt: number;
}

/** Serves the resources of custom resource definitions, as long as the definitions exist. */
export class DefinitionsController {
  readonly #deps: DefinitionsDeps;
  readonly #webhooks: WebhookClient;
  readonly #definitions = new Map<string, Definition>();
  readonly #servedDefinitions = new Map<string, ServedDefinition>();
  readonly #pending = new Set<string>();
  readonly #heldDefinitions = new Map<string, TerminatingDefinition>();
  #working: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: DefinitionsDeps) {
    this.#deps = deps;
    this.#webhooks = webhookClient(deps);
  }

  /** Resolves once every existing definition is served. */
  async start(): Promise<void> {
    const { cache } = this.#deps.table.storage('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
    await cache.follow({
      put: (_key, object) => this.#changed(object),
      remove: (key) => this.#removed(key.slice(cache.prefix.length)),
    });
    await this.#working;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { resources } of this.#servedDefinitions.values()) resources.storage.cache.close();
  }

  #changed(object: KubeObject): void {
    const definition = object as unknown as Definition;
    this.#definitions.set(definition.metadata.name, definition);
    this.#enqueue(definition.metadata.name);
  }

  #removed(name: string): void {
    this.#definitions.delete(name);
    this.#heldDefinitions.delete(name);
    this.#stopServing(name);
    // Its names are available to other definitions now.
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
    // Cleared in the same turn, so that a definition that arrives in the next turn starts a new run.
    this.#working = undefined;
  }

  #failed(name: string, error: unknown): void {
    if (this.#isStopped) return;
    // Conflict: the event of the other write retries it.
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

  /** The definition with its names accepted or rejected in its status. */
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

  #withConditions(present: readonly Condition[], conditions: readonly Condition[]): readonly Condition[] {
    const now = formatTime(this.#deps.clock.now());
    const settled = conditions.map((condition) => {
      const before = present.find(({ type }) => type === condition.type);
      const lastTransitionTime = before?.status === condition.status && before.lastTransitionTime ? before.lastTransitionTime : now;
      return before && before.status === condition.status && before.reason === condition.reason && before.message === condition.message
        ? before
        : { ...condition, lastTransitionTime };
    });
    const types = new Set(conditions.map(({ type }) => type));
    return [...settled, ...present.filter(({ type }) => !types.has(type))];
  }

  async #updateStatus(definition: Definition): Promise<Definition> {
    const updated = await this.#deps.client.of(apiextensions.CustomResourceDefinition).updateStatus(definition);
    this.#definitions.set(updated.metadata.name, updated);
    return updated;
  }

  /** Served under the accepted names, which may differ from the requested ones. */
  #serve({ spec, ...rest }: Definition): void {
    const definition = { ...rest, spec: { ...spec, names: rest.status?.acceptedNames ?? spec.names } };
    const { name } = definition.metadata;
    const servedDefinition = this.#servedDefinitions.get(name);
    if (servedDefinition !== undefined && sameJson(servedDefinition.spec as unknown as JsonValue, definition.spec as unknown as JsonValue))
      return;
    const isTerminating = () => this.#definitions.get(name)?.metadata.deletionTimestamp !== undefined;
    const resources = customResourcesOf(definition, { ...this.#deps, webhooks: this.#webhooks, isTerminating });
    this.#stopServing(name);
    this.#servedDefinitions.set(name, { spec: definition.spec, resources });
    // bounded: spread lists are the versions of a definition, which fits into a request
    this.#deps.table.add(...resources.served);
  }

  #stopServing(name: string): void {
    const servedDefinition = this.#servedDefinitions.get(name);
    if (servedDefinition === undefined) return;
    this.#servedDefinitions.delete(name);
    this.#deps.table.remove(...servedDefinition.resources.served);
    servedDefinition.resources.storage.cache.close();
  }

  /** Deletes the objects, then removes the definition's finalizer. */
  async #finish(definition: Definition): Promise<void> {
    const { metadata } = definition;
    if (!metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    if (isTrue(definition, 'Established')) this.#serve(definition);
    if ((this.#heldDefinitions.get(metadata.name)?.resumeAt ?? 0) > this.#deps.clock.now()) return;
    const present = definition.status?.conditions ?? [];
    if (present.some(({ type, reason }) => type === DELETING.type && reason !== DELETING.reason)) {
      // The event of this write requeues the definition.
      await this.#updateStatus(withCondition(definition, DELETING));
      return this.#enqueue(metadata.name);
    }
    if ((await this.#deleteInstances(definition)) > 0) return this.#recheckLater(definition);
    this.#heldDefinitions.delete(metadata.name);
    const finalizers = metadata.finalizers.filter((name) => name !== CLEANUP_FINALIZER);
    const reason = isTrue(definition, 'Established') ? DELETED : NOTHING_TO_DELETE;
    const finished = withCondition(definition, { ...reason, lastTransitionTime: formatTime(this.#deps.clock.now()) });
    await this.#updateStatus({ ...finished, metadata: { ...metadata, finalizers } });
  }

  /** Checks again soon; objects that remain after a minute are reported in the status. */
  async #recheckLater(definition: Definition): Promise<void> {
    const { clock } = this.#deps;
    const { name } = definition.metadata;
    const terminatingDefinition = this.#heldDefinitions.get(name) ?? {
      backoff: new Backoff(CHECK_BACKOFF),
      checkAt: clock.now() + CHECK_MS,
      resumeAt: 0,
    };
    this.#heldDefinitions.set(name, terminatingDefinition);
    const isDue = clock.now() >= terminatingDefinition.checkAt;
    const delayMs = isDue ? terminatingDefinition.backoff.next() : RETRY_MS;
    if (isDue) Object.assign(terminatingDefinition, { resumeAt: clock.now() + delayMs, checkAt: clock.now() + delayMs + CHECK_MS });
    clock.setTimer(delayMs, () => this.#enqueue(name));
    if (isDue) await this.#updateStatus(withCondition(definition, UNCONFIRMED));
  }

  /** Resolves with the number of objects that still exist. */
  async #deleteInstances({ metadata }: Definition): Promise<number> {
    const servedDefinition = this.#servedDefinitions.get(metadata.name);
    return servedDefinition === undefined ? 0 : deleteInstances(servedDefinition.resources.storage, this.#deps.clock);
  }
}

/** The definition with a condition replaced. */
function withCondition(definition: Definition, condition: Condition): Definition {
  const present = definition.status?.conditions ?? [];
  const conditions = present.map((existing) => (existing.type === condition.type ? { ...existing, ...condition } : existing));
  return { ...definition, status: { ...definition.status, conditions } } as Definition;
}

function isTrue({ status }: Definition, condition: string): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === condition && value === 'True') === true;
}

const APPROVED = 'api-approved.kubernetes.io';

/** API groups of the Kubernetes project require the api-approved annotation. */
function approvalOf({ spec, metadata }: Definition): readonly Condition[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group)) return [];
  const approval = metadata.annotations?.[APPROVED];
  const type = 'KubernetesAPIApprovalPolicyConformant';
  if (approval?.startsWith('unapproved')) {
    return [{ type, status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: "${approval}"` }];
  }
  return [{ type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${approval ?? ''}` }];
}
