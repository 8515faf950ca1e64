import { quota } from '#api';
import { type DiscoveredResource, discover, type KubeObject, preferredResources, type SharedInformer } from '#client';
import type { ControllerContext } from '../runtime/controller.ts';
import { InformedDeviceLookup } from './device-lookup.ts';

/** A resource with a quota: its evaluator and its objects. */
export interface Monitor {
  readonly evaluator: quota.QuotaEvaluator;
  readonly informer: SharedInformer<KubeObject>;
}

/** Watches the resources that quotas name, each from when the first quota names it. */
export class QuotaMonitors {
  readonly #special: readonly quota.QuotaEvaluator[];
  readonly #monitors = new Map<string, Monitor>();
  #resources: Promise<readonly DiscoveredResource[]> | undefined;

  constructor(
    private readonly context: ControllerContext,
    /** Called when an object was deleted, or changed so that the usage of its namespace may change. */
    private readonly changed: (namespace: string, monitor: Monitor) => void,
  ) {
    const usage = (pod: Parameters<typeof quota.podEvaluator.usage>[0]) => quota.podEvaluator.usage(pod, context.clock.now());
    this.#special = [
      quota.podEvaluator,
      quota.serviceEvaluator,
      quota.volumeClaimEvaluator,
      quota.deviceClaimEvaluator(new InformedDeviceLookup(context.informers, usage)),
    ] as unknown as readonly quota.QuotaEvaluator[];
  }

  /** The synced monitors that count towards any of the names. Resources that are not served count nothing. */
  async monitorsFor(names: readonly string[]): Promise<readonly Monitor[]> {
    const resources = await this.#discovered();
    const desired = resources.flatMap((resource) => {
      const evaluator = this.#evaluatorFor(resource);
      return evaluator.matching(names).length > 0 ? [this.#monitor(resource, evaluator)] : [];
    });
    await Promise.all(desired.map(({ informer }) => informer.synced));
    return desired;
  }

  /** Called when the served resources may have changed. */
  forgetResources(): void {
    this.#resources = undefined;
  }

  #discovered(): Promise<readonly DiscoveredResource[]> {
    this.#resources ??= this.#discover().catch((error: unknown) => {
      this.#resources = undefined;
      throw error;
    });
    return this.#resources;
  }

  async #discover(): Promise<readonly DiscoveredResource[]> {
    const { client, signal } = this.context;
    const needed = ['create', 'list', 'watch', 'delete'];
    return preferredResources(await discover(client.transport, signal)).filter(
      (resource) => resource.namespaced && quota.isQuotable(resource) && needed.every((verb) => resource.verbs.includes(verb)),
    );
  }

  #evaluatorFor({ group, resource }: DiscoveredResource): quota.QuotaEvaluator {
    const special = this.#special.find((evaluator) => evaluator.group === group && evaluator.resource === resource);
    return special ?? this.#monitors.get(`${group}/${resource}`)?.evaluator ?? quota.objectCountEvaluator({ group, resource });
  }

  #monitor(resource: DiscoveredResource, evaluator: quota.QuotaEvaluator): Monitor {
    const key = `${resource.group}/${resource.resource}`;
    const existing = this.#monitors.get(key);
    if (existing) return existing;
    const { informers, clock } = this.context;
    const informer = informers.resource(resource);
    const monitor = { evaluator, informer };
    const report = ({ metadata }: KubeObject) => this.changed(metadata.namespace ?? '', monitor);
    // Creations are already counted by admission.
    informer.addHandler({
      update: (before, after) => (evaluator.changesUsage(before, after, clock.now()) ? report(after) : undefined),
      delete: report,
    });
    this.#monitors.set(key, monitor);
    return monitor;
  }
}
