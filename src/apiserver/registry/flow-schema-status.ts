import { flowcontrol } from '#api';
import type { Clock, Logger } from '#base';
import type { Client } from '#client';
import { formatTime, isStatusReason } from '#machinery';
import { followCache } from '../watch-cache/follow-cache.ts';
import type { KubeObject } from './kube-object.ts';
import type { ResourceTable } from './resource-table.ts';

type FlowSchema = flowcontrol.FlowSchema;

const FIELD_MANAGER = 'api-priority-and-fairness-config-consumer-v1';

export interface FlowSchemaStatusDeps {
  readonly table: ResourceTable;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Whether the priority level that a flow schema names is there, in the words of upstream. */
export function danglingCondition(level: string, exists: boolean) {
  const text = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`;
  return exists
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${text} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${text} but there is no such object` };
}

/** Tells of each flow schema whether it leads anywhere. */
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
    await followCache(levels, {
      reset: () => this.#levels.clear(),
      put: (key) => this.#changeLevels(() => this.#levels.add(nameOf(key, levels.prefix))),
      remove: (key) => this.#changeLevels(() => this.#levels.delete(nameOf(key, levels.prefix))),
    });
    await followCache(schemas, {
      reset: () => this.#schemas.clear(),
      put: (key, object: KubeObject) => {
        const schema = object as unknown as FlowSchema;
        this.#schemas.set(key, schema);
        this.#settle(schema);
      },
      remove: (key) => void this.#schemas.delete(key),
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  #cache(resource: string) {
    return this.#deps.table.find('flowcontrol.apiserver.k8s.io', 'v1', resource)!.storage!.cache;
  }

  #changeLevels(change: () => void): void {
    change();
    for (const schema of this.#schemas.values()) this.#settle(schema);
  }

  #settle(schema: FlowSchema): void {
    const level = schema.spec?.priorityLevelConfiguration.name ?? '';
    const wanted = danglingCondition(level, this.#levels.has(level));
    const now = schema.status?.conditions?.find(({ type }) => type === wanted.type);
    if (this.#isStopped || (now?.status === wanted.status && now.message === wanted.message)) return;
    // What the cache tells is told in the middle of a write: the answer comes after it.
    queueMicrotask(() => void this.#write(schema, wanted).catch((error: unknown) => this.#failed(schema, error)));
  }

  async #write(schema: FlowSchema, wanted: ReturnType<typeof danglingCondition>): Promise<void> {
    if (this.#isStopped) return;
    const condition = { ...wanted, lastTransitionTime: formatTime(this.#deps.clock.now()) };
    const wish = { metadata: { name: schema.metadata.name }, status: { conditions: [condition] } };
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER, force: true };
    await this.#deps.client.of(flowcontrol.FlowSchema).apply(wish, options);
  }

  #failed({ metadata }: FlowSchema, error: unknown): void {
    // Another write came first, or the schema went: its next event brings it back.
    if (this.#isStopped || isStatusReason(error, 'Conflict') || isStatusReason(error, 'NotFound')) return;
    this.#deps.logger.warn('cannot tell whether a flow schema leads anywhere', { name: metadata.name, error });
  }
}
