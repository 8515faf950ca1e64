import { flowcontrol } from '#api';
import type { Clock, Logger } from '#base';
import type { Client } from '#client';
import { formatTime, isStatusReason } from '#machinery';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';

type FlowSchema = flowcontrol.FlowSchema;

const FIELD_MANAGER = 'api-priority-and-fairness-config-consumer-v1';

export interface FlowSchemaStatusDeps {
  readonly table: ResourceTable;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The Dangling condition: whether the priority level exists. Messages match upstream. */
export function danglingCondition(level: string, exists: boolean) {
  const text = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`;
  return exists
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${text} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${text} but there is no such object` };
}

/** Maintains the Dangling condition of flow schemas. */
export class FlowSchemaStatus {
  readonly #deps: FlowSchemaStatusDeps;
  readonly #schemas = new Map<string, FlowSchema>();
  readonly #levels = new Set<string>();
  #isStopped = false;

  constructor(deps: FlowSchemaStatusDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const levels = this.#cache('prioritylevelconfigurations');
    const schemas = this.#cache('flowschemas');
    const nameOf = (key: string, prefix: string) => key.slice(prefix.length);
    await levels.follow({
      put: (key) => this.#changeLevels(() => this.#levels.add(nameOf(key, levels.prefix))),
      remove: (key) => this.#changeLevels(() => this.#levels.delete(nameOf(key, levels.prefix))),
    });
    await schemas.follow({
      put: (key, object: KubeObject) => {
        const schema = object as unknown as FlowSchema;
        this.#schemas.set(key, schema);
        this.#settleAlone(schema);
      },
      remove: (key) => void this.#schemas.delete(key),
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  #cache(resource: string) {
    return this.#deps.table.storage('flowcontrol.apiserver.k8s.io', 'v1', resource).cache;
  }

  #changeLevels(change: () => void): void {
    change();
    for (const schema of this.#schemas.values()) this.#settleAlone(schema);
  }

  /** A failure does not affect other schemas. */
  #settleAlone(schema: FlowSchema): void {
    try {
      this.#settle(schema);
    } catch (error) {
      this.#failed(schema, error);
    }
  }

  #settle(schema: FlowSchema): void {
    const level = schema.spec?.priorityLevelConfiguration.name ?? '';
    const condition = danglingCondition(level, this.#levels.has(level));
    const now = schema.status?.conditions?.find(({ type }) => type === condition.type);
    if (this.#isStopped || (now?.status === condition.status && now.message === condition.message)) return;
    // Deferred: cache events arrive in the middle of a write.
    queueMicrotask(() => void this.#write(schema, condition).catch((error: unknown) => this.#failed(schema, error)));
  }

  async #write(schema: FlowSchema, desired: ReturnType<typeof danglingCondition>): Promise<void> {
    if (this.#isStopped) return;
    const condition = { ...desired, lastTransitionTime: formatTime(this.#deps.clock.now()) };
    const patch = { metadata: { name: schema.metadata.name }, status: { conditions: [condition] } };
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER, force: true };
    await this.#deps.client.of(flowcontrol.FlowSchema).apply(patch, options);
  }

  #failed({ metadata }: FlowSchema, error: unknown): void {
    // Conflict or deletion: the next event retries it.
    if (this.#isStopped || isStatusReason(error, 'Conflict') || isStatusReason(error, 'NotFound')) return;
    this.#deps.logger.warn('cannot update the status of a flow schema', { name: metadata.name, error });
  }
}
