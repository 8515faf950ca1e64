import type { Logger } from '#base';
import { SYSTEM_NAMESPACES } from '../bootstrap/system-namespaces.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';

export interface SystemObjectsControllerDeps {
  readonly table: ResourceTable;
  readonly logger: Logger;
  /** Creates missing system objects. */
  readonly ensure: () => Promise<void>;
}

/** Objects that are recreated after deletion, by key below the resource's prefix. */
const WATCHED: readonly { readonly resource: string; readonly names: ReadonlySet<string> }[] = [
  { resource: 'namespaces', names: new Set(SYSTEM_NAMESPACES) },
  { resource: 'services', names: new Set(['default/kubernetes']) },
];

/** Recreates system namespaces and the kubernetes service when they are deleted. */
export class SystemObjectsController {
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(private readonly deps: SystemObjectsControllerDeps) {}

  async start(): Promise<void> {
    for (const { resource, names } of WATCHED) {
      const { cache } = this.deps.table.storage('', 'v1', resource);
      await cache.follow({
        put: () => {},
        remove: (key) => {
          if (names.has(key.slice(cache.prefix.length))) this.#restore();
        },
      });
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Serialized and deferred: cache events arrive in the middle of a write. */
  #restore(): void {
    this.#running = (this.#running ?? Promise.resolve()).then(async () => {
      if (this.#isStopped) return;
      await this.deps.ensure().catch((error: unknown) => this.deps.logger.warn('could not restore system objects', { error }));
    });
  }
}
