import { apiextensions, core, quota } from '#api';
import { repeat } from '#base';
import { type Lister, parseKey } from '#client';
import { sameJson } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { type Monitor, QuotaMonitors } from './quota-monitors.ts';
import { isUncounted, reconcileQuota } from './reconcile.ts';

/** Calculates the usage of resource quotas. */
export const resourceQuotaController: Controller = {
  name: 'resourcequota-controller',
  aliases: ['resourcequota'],
  enabledByDefault: true,
  start: (context) => new ResourceQuotaController(context),
};

class ResourceQuotaController implements RunningController {
  readonly #queue: KeyedController;
  readonly #monitors: QuotaMonitors;
  readonly #quotas: Lister<core.ResourceQuota>;

  constructor(private readonly context: ControllerContext) {
    const { informers, options } = context;
    this.#monitors = new QuotaMonitors(context, (namespace, monitor) => this.#replenish(namespace, monitor));
    const quotas = informers.of(core.ResourceQuota);
    this.#quotas = quotas.lister;
    const concurrency = options.concurrentResourceQuotaSyncs;
    this.#queue = new KeyedController(context, {
      name: 'resourcequota_primary',
      concurrency,
      objects: quotas.lister,
      sync: (key) => this.#sync(key),
    });
    quotas.addHandler({
      add: (item) => this.#queue.enqueue(item),
      // Status changes are made by this controller and by admission, which both count correctly.
      update: (before, after) => {
        if (!sameJson(before.spec?.hard ?? {}, after.spec?.hard ?? {})) this.#queue.enqueue(after);
      },
    });
    const resourcesChanged = () => {
      this.#monitors.forgetResources();
      this.#enqueueAll(isUncounted);
    };
    informers
      .of(apiextensions.CustomResourceDefinition)
      .addHandler({ add: resourcesChanged, update: resourcesChanged, delete: resourcesChanged });
  }

  async run(): Promise<void> {
    const { clock, signal, options, logger } = this.context;
    const intervalMs = options.resourceQuotaSyncPeriodMs;
    const onError = (error: unknown) => logger.error('cannot count quotas again', { error });
    const resync = repeat({ clock, intervalMs, signal, onError }, () => {
      this.#monitors.forgetResources();
      this.#enqueueAll(() => true);
    });
    await Promise.all([this.#queue.run(), resync]);
  }

  #enqueueAll(predicate: (one: core.ResourceQuota) => boolean): void {
    for (const item of this.#quotas.list()) if (predicate(item)) this.#queue.enqueue(item);
  }

  #replenish(namespace: string, { evaluator, informer }: Monitor): void {
    for (const item of this.#quotas.list(namespace)) {
      if (evaluator.matching(Object.keys(item.status?.hard ?? {})).length > 0)
        this.#queue.enqueueCoalesced(item, informer.lister.count(namespace));
    }
  }

  async #sync(key: string): Promise<void> {
    const { clock, client } = this.context;
    const current = this.#quotas.get(parseKey(key));
    if (current === undefined) return;
    const { spec = {}, metadata } = current;
    const monitors = await this.#monitors.monitorsFor(Object.keys(spec.hard ?? {}));
    const listers = new Map(monitors.map(({ evaluator, informer }) => [evaluator, informer.lister]));
    const usage = quota.calculateUsage({
      spec,
      evaluators: [...listers.keys()],
      objects: (evaluator) => listers.get(evaluator)?.list(metadata.namespace) ?? [],
      now: clock.now(),
    });
    const status = reconcileQuota(current, usage);
    if (status) await client.of(core.ResourceQuota).updateStatus({ ...current, status });
  }
}
