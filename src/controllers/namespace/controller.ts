import { core } from '#api';
import { perKeyBackoff, type Requeue, sharedBucket, slowestOf } from '#base';
import { type Lister, parseKey } from '#client';
import { formatTime, isStatusReason } from '#machinery';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { updateWithRetry } from '../runtime/update-with-retry.ts';
import { deleteContent } from './delete-content.ts';
import { terminationConditions } from './reconcile.ts';

const FINALIZER = 'kubernetes';

/** Deletes the content of terminating namespaces, then removes their finalizer. */
export const namespaceController: Controller = {
  name: 'namespace-controller',
  aliases: ['namespace'],
  enabledByDefault: true,
  start(context) {
    const { informers, options, clock } = context;
    const namespaces = informers.of(core.Namespace);
    const deleter = new NamespaceDeleter(context, namespaces.lister);
    const controller = new KeyedController(context, {
      name: 'namespace',
      concurrency: options.concurrentNamespaceSyncs,
      rateLimiter: slowestOf(
        perKeyBackoff<string>({ initialMs: 5, maxMs: 60_000 }),
        sharedBucket<string>(clock, { perSecond: 10, burst: 100 }),
      ),
      objects: namespaces.lister,
      sync: (key) => deleter.sync(key),
    });
    const enqueue = (namespace: core.Namespace) => {
      // Other API servers need time to observe that nothing more may be created in it.
      if (namespace.metadata.deletionTimestamp) controller.enqueueAfter(namespace, options.namespaceDeletionGracePeriodMs);
    };
    namespaces.addHandler({ add: enqueue, update: (_, namespace) => enqueue(namespace) });
    return controller;
  },
};

class NamespaceDeleter {
  constructor(
    private readonly context: ControllerContext,
    private readonly lister: Lister<core.Namespace>,
  ) {}

  async sync(key: string): Promise<Requeue | undefined> {
    if (this.lister.get(parseKey(key)) === undefined) return undefined;
    try {
      return await this.#delete(key);
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async #delete(name: string): Promise<Requeue | undefined> {
    const namespace = await this.#markTerminating(await this.#namespaces.get({ name }));
    if (!namespace.metadata.deletionTimestamp || (namespace.spec?.finalizers ?? []).length === 0) return undefined;
    const { client, clock, signal, logger } = this.context;
    const { result, estimateSeconds, errors } = await deleteContent(namespace, { client, clock, signal });
    const conditions = terminationConditions(namespace.status?.conditions, result, formatTime(clock.now()));
    if (conditions !== namespace.status?.conditions) await this.#setConditions(namespace, conditions);
    if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.map(String).join(', '));
    if (estimateSeconds > 0) {
      logger.debug('content remains in the namespace', { namespace: name, estimateSeconds });
      return { afterMs: (Math.floor(estimateSeconds / 2) + 1) * 1000 };
    }
    await this.#finalize(namespace);
    return undefined;
  }

  get #namespaces() {
    return this.context.client.of(core.Namespace);
  }

  #markTerminating(first: core.Namespace): Promise<core.Namespace> {
    const { clock, random, signal } = this.context;
    return updateWithRetry(this.#namespaces, {
      clock,
      random,
      signal,
      first,
      key: first.metadata,
      subresource: 'status',
      change: (current) => {
        throwIfReplaced(first, current);
        const isDone = !current.metadata.deletionTimestamp || current.status?.phase === 'Terminating';
        return isDone ? undefined : { ...current, status: { ...current.status, phase: 'Terminating' } };
      },
    });
  }

  /** A failed status update does not block the deletion. */
  async #setConditions(namespace: core.Namespace, conditions: readonly core.NamespaceCondition[]): Promise<void> {
    try {
      await this.#namespaces.updateStatus({ ...namespace, status: { ...namespace.status, conditions } });
    } catch (error) {
      this.context.logger.warn('the conditions of a namespace could not be written', { namespace: namespace.metadata.name, error });
    }
  }

  async #finalize(first: core.Namespace): Promise<void> {
    for (let namespace = first; ; namespace = await this.#namespaces.get(first.metadata)) {
      throwIfReplaced(first, namespace);
      const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER).sort();
      const { status: _, ...rest } = namespace;
      try {
        await this.#namespaces.subresource('finalize').update(first.metadata, { ...rest, spec: { ...namespace.spec, finalizers } });
        return;
      } catch (error) {
        if (!isStatusReason(error, 'Conflict')) throw error;
      }
    }
  }
}

function throwIfReplaced(before: core.Namespace, now: core.Namespace): void {
  if (before.metadata.uid !== now.metadata.uid) throw new Error('namespace uid has changed across retries');
}
