import { storagemigrationV1beta1 } from '#api';
import { type Clock, type Logger, type MetricsRegistry, type Requeue, runWorkers, WorkQueue } from '#base';
import type { Client } from '#client';
import { formatTime, groupResourceText, isStatusReason } from '#machinery';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import { isStored, type StoredResource } from '../registry/generic/served-resource.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { type DefinitionMigration, markDefinition } from './migrating-definition.ts';
import { migrationStep } from './migration-step.ts';

type Migration = storagemigrationV1beta1.StorageVersionMigration;

export interface StorageVersionMigratorDeps {
  readonly table: ResourceTable;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

const FIELD_MANAGER = 'storage-version-migrator-controller';
const REASONS = {
  Running: 'StorageVersionMigrationInProgress',
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
} as const;
const NEEDED_VERBS: readonly string[] = ['update', 'patch', 'list'];
/** A new custom resource may not be served yet. */
const DISCOVERY_MS = 60_000;
const RETRY_MS = 5_000;

/**
 * Rewrites the objects of a resource with empty patches, so that they are stored in the current
 * version, encoding and encryption.
 */
export class StorageVersionMigrator {
  readonly #deps: StorageVersionMigratorDeps;
  readonly #migrations = new Map<string, Migration>();
  readonly #queue: WorkQueue<string>;

  constructor(deps: StorageVersionMigratorDeps) {
    this.#deps = deps;
    this.#queue = new WorkQueue<string>({ clock: deps.clock, name: 'storage-version-migrator', metrics: deps.metrics });
  }

  /** No-op when migrations are not served. */
  async run(signal: AbortSignal): Promise<void> {
    const migrations = this.#deps.table.find('storagemigration.k8s.io', 'v1beta1', 'storageversionmigrations');
    if (migrations === undefined || !isStored(migrations)) return;
    const { cache } = migrations.storage;
    await cache.follow({
      put: (key, object: KubeObject) => this.#put(key.slice(cache.prefix.length), object as unknown as Migration),
      remove: (key) => void this.#migrations.delete(key.slice(cache.prefix.length)),
    });
    const onError = (name: string, error: unknown) => this.#deps.logger.warn('a storage version migration is tried again', { name, error });
    await runWorkers({ queue: this.#queue, signal, onError }, (name) => this.#sync(name));
    this.#queue.shutDown();
  }

  /** A finished migration may unblock another of the same resource. */
  #put(name: string, migration: Migration): void {
    this.#migrations.set(name, migration);
    for (const other of this.#migrations.keys()) this.#queue.add(other);
  }

  async #sync(name: string): Promise<Requeue | undefined> {
    const migration = this.#migrations.get(name);
    const step = migration && migrationStep(migration, [...this.#migrations.values()]);
    if (migration === undefined || step === 'none') return undefined;
    if (step === 'begin') {
      await this.#markDefinition(migration, { state: 'running', migration: name });
      return this.#conclude(migration, 'Running');
    }
    const resource = this.#resourceOf(migration);
    if (resource === undefined) return this.#notServed(migration);
    const missing = NEEDED_VERBS.some((verb) => !resource.verbs.includes(verb));
    if (missing) return this.#conclude(migration, 'Failed', unsupported(resource));
    return step === 'checkpoint' ? this.#checkpoint(migration, resource) : this.#migrate(migration, resource);
  }

  #resourceOf({ spec }: Migration): StoredResource | undefined {
    const { group = '', resource = '' } = spec?.resource ?? {};
    const served = this.#deps.table.findPreferred(group, resource);
    return served !== undefined && isStored(served) ? served : undefined;
  }

  async #notServed(migration: Migration): Promise<Requeue | undefined> {
    const age = this.#deps.clock.now() - Date.parse(migration.metadata.creationTimestamp ?? '');
    if (age < DISCOVERY_MS) return { afterMs: RETRY_MS };
    return this.#conclude(migration, 'Failed', 'resource does not exist in discovery');
  }

  /** Objects written from now on need no migration. */
  async #checkpoint(migration: Migration, resource: StoredResource): Promise<undefined> {
    const { metadata } = await this.#deps.client.resource(resource).list({ limit: 1 });
    await this.#updateStatus({ ...migration, status: { ...migration.status, resourceVersion: metadata.resourceVersion ?? '' } });
  }

  async #migrate(migration: Migration, resource: StoredResource): Promise<undefined> {
    const checkpoint = Number(migration.status?.resourceVersion);
    const { cache } = resource.storage;
    await cache.reached(checkpoint);
    for (const object of [...cache.objects()].filter(({ revision }) => revision <= checkpoint)) await this.#rewrite(object, resource);
    await this.#markDefinition(migration, { state: 'succeeded' });
    await this.#conclude(migration, 'Succeeded');
  }

  async #markDefinition({ spec }: Migration, state: DefinitionMigration): Promise<void> {
    const { client, clock } = this.#deps;
    const { group = '', resource = '' } = spec?.resource ?? {};
    await markDefinition(client, { group, resource }, { ...state, now: clock.now() });
  }

  /** A conflict means that the object was just written or deleted: done. */
  async #rewrite({ object: { metadata } }: CachedObject, resource: StoredResource): Promise<void> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const key = { name, ...(namespace !== undefined && { namespace }) };
    try {
      await this.#deps.client.resource(resource).patch(key, { metadata: { uid, resourceVersion } }, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      if (!isStatusReason(error, 'Conflict') && !isStatusReason(error, 'NotFound')) throw error;
    }
  }

  async #conclude(migration: Migration, type: keyof typeof REASONS, message = ''): Promise<undefined> {
    if (type === 'Failed') await this.#markDefinition(migration, { state: 'failed' });
    const text = type === 'Failed' ? `migration encountered unhandled error: ${message}` : message;
    const lastTransitionTime = formatTime(this.#deps.clock.now());
    const condition = { type, status: 'True', lastTransitionTime, reason: REASONS[type], message: text };
    const conditions = [...(migration.status?.conditions ?? []), condition];
    await this.#updateStatus({ ...migration, status: { ...migration.status, conditions } });
  }

  async #updateStatus(migration: Migration): Promise<void> {
    await this.#deps.client.of(storagemigrationV1beta1.StorageVersionMigration).updateStatus(migration, { fieldManager: FIELD_MANAGER });
  }
}

function unsupported({ group, resource }: StoredResource): string {
  return `resource "${groupResourceText({ group, resource })}" does not support discovery operations: [${NEEDED_VERBS.join(' ')}]`;
}
