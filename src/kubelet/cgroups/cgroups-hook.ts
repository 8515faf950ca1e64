import { type core, quota } from '#api';
import { AsyncSemaphore, type Clock, type Logger, retry } from '#base';
import type { KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import { milliCpuToShares } from '../pods/config/container-resources.ts';
import type { PodContext, PodHook } from '../pods/hooks/pod-hook.ts';
import type { PodMemory } from '../pods/memory-decrease.ts';
import { withoutStatus } from '../pods/pod-allocation.ts';
import { type CgroupLimits, podLimits } from './cgroup-limits.ts';
import type { CgroupNames } from './cgroup-names.ts';
import type { CgroupTree } from './cgroup-tree.ts';

export interface CgroupsDeps {
  readonly tree: CgroupTree;
  readonly names: CgroupNames;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent: nothing is counted. */
  readonly kubeletMetrics?: Pick<KubeletMetrics, 'cgroupChanged'> | undefined;
  /** As `--pod-max-pids`. */
  readonly pidsLimit?: number | undefined;
  /** As `--cpu-cfs-quota`. Default true. */
  readonly enforcesCpuLimits?: boolean;
  /** A pod with CPUs of its own has no CPU quota. */
  hasExclusiveCpus?(podUid: string): boolean;
  /** Of the machine, as in cgroup file names. */
  readonly hugePageSizes?: readonly string[];
}

const BUSY = { initialMs: 10, maxMs: 500 };
const BUSY_ATTEMPTS = 20;

/** Creates each pod's cgroup below that of its QoS class, and removes it. */
export class PodCgroups implements PodHook {
  readonly name = 'cgroups';
  readonly #deps: CgroupsDeps;
  /** CPU requests of the pods of each QoS class, in millicores. */
  readonly #requests = new Map<string, { readonly milliCpu: number; readonly qosClass: string }>();
  /** The weights of the classes as last written, by cgroup. */
  readonly #weights = new Map<string, number>();
  readonly #weighing = new AsyncSemaphore(1);

  constructor(deps: CgroupsDeps) {
    this.#deps = deps;
  }

  /** In the form that runtimes expect. */
  parentOf(pod: core.Pod): string {
    const { names } = this.#deps;
    return names.parent(names.podParts(pod));
  }

  /** Limits all pods together to the node's capacity without reservations. */
  async limitAll({ milliCpu, memoryBytes }: { readonly milliCpu: number; readonly memoryBytes: number }): Promise<void> {
    const { tree } = this.#deps;
    const path = this.view.podsPath();
    await tree.create(path);
    await tree.limit(path, { cpuShares: milliCpuToShares(milliCpu), memoryBytes });
  }

  /** For monitoring. */
  get view() {
    const { tree, names } = this.#deps;
    return {
      tree,
      podsPath: () => names.path(names.qosParts('Guaranteed')),
      podPath: (pod: core.Pod) => names.path(names.podParts(pod)),
    };
  }

  async prepare({ pod, uid }: PodContext): Promise<void> {
    const { tree, names } = this.#deps;
    const path = names.path(names.podParts(pod));
    if (this.#requests.has(uid) && tree.exists(path)) return;
    await this.#timed('create', async () => {
      await tree.create(path);
      await tree.limit(path, this.#limitsOf(pod));
    });
    this.#requests.set(uid, requestOf(pod));
    await this.#weighing.run(() => this.#weighClasses());
  }

  async memory({ pod }: PodContext): Promise<PodMemory | undefined> {
    const { tree } = this.#deps;
    const path = this.view.podPath(pod);
    if (!tree.exists(path)) return undefined;
    const usageOf = async (at: string) => (await tree.usage(at)).memory.usageBytes;
    const children = (await tree.children(path)).map(async (name) => [containerIdOf(name), await usageOf(`${path}/${name}`)] as const);
    const { memoryBytes: newLimitBytes } = this.#limitsOf(pod);
    const { limitBytes } = await tree.memory(path);
    return { usageBytes: await usageOf(path), limitBytes, newLimitBytes, containerBytes: new Map(await Promise.all(children)) };
  }

  async grow({ pod }: PodContext): Promise<void> {
    const { tree } = this.#deps;
    const path = this.view.podPath(pod);
    if (!tree.exists(path)) return;
    const { cpuQuotaUs = -1, memoryBytes = -1 } = this.#limitsOf(pod);
    const [quota, memory] = await Promise.all([tree.read(path, 'cpuQuota'), tree.memory(path)]);
    const raised = {
      ...(isMore(cpuQuotaUs, quotaOf(quota)) && { cpuQuotaUs }),
      ...(isMore(memoryBytes, memory.limitBytes) && { memoryBytes }),
    };
    if (Object.keys(raised).length > 0) await this.#timed('update', () => tree.reserve(path, raised));
  }

  async resize({ pod, uid }: PodContext): Promise<void> {
    const { tree } = this.#deps;
    const path = this.view.podPath(pod);
    if (!tree.exists(path)) return;
    await this.#timed('update', () => tree.limit(path, this.#limitsOf(pod)));
    this.#requests.set(uid, requestOf(pod));
    await this.#weighing.run(() => this.#weighClasses());
  }

  #limitsOf(pod: core.Pod): CgroupLimits {
    const { pidsLimit, enforcesCpuLimits = true, hasExclusiveCpus, hugePageSizes } = this.#deps;
    const isLimited = enforcesCpuLimits && hasExclusiveCpus?.(pod.metadata.uid ?? '') !== true;
    return podLimits(pod, { pidsLimit, enforcesCpuLimits: isLimited, hugePageSizes });
  }

  async postStop({ pod, uid }: PodContext): Promise<void> {
    const { names } = this.#deps;
    await this.#timed('destroy', () => this.#remove(names.path(names.podParts(pod))));
    if (this.#requests.delete(uid)) await this.#weighing.run(() => this.#weighClasses());
  }

  async cleanUpOrphans(liveUids: ReadonlySet<string>): Promise<void> {
    const { tree, names, logger } = this.#deps;
    for (const qosClass of ['Guaranteed', 'Burstable', 'BestEffort']) {
      const base = names.path(names.qosParts(qosClass));
      for (const name of await tree.children(base)) {
        const [, uid] = /pod([0-9a-f_-]{32,36})(?:\.slice)?$/.exec(name) ?? [];
        if (uid === undefined || liveUids.has(uid.replaceAll('_', '-'))) continue;
        await this.#remove(`${base}/${name}`).catch((error: unknown) => logger.warn('cannot remove a cgroup', { name, error }));
      }
    }
  }

  async #timed(operation: 'create' | 'update' | 'destroy', work: () => Promise<void>): Promise<void> {
    const { clock, kubeletMetrics } = this.#deps;
    const since = clock.monotonic();
    await work();
    kubeletMetrics?.cgroupChanged(operation, clock.monotonic() - since);
  }

  /** Retried: killed processes hold their cgroup for a moment. */
  async #remove(path: string): Promise<void> {
    const { tree, clock } = this.#deps;
    await tree.kill(path);
    await retry({ clock, backoff: BUSY, attempts: BUSY_ATTEMPTS }, () => tree.remove(path));
  }

  /** The burstable class gets the sum of its requests as its weight, best-effort the minimum. */
  async #weighClasses(): Promise<void> {
    const { tree, names } = this.#deps;
    let milliCpu = 0;
    for (const request of this.#requests.values()) if (request.qosClass === 'Burstable') milliCpu += request.milliCpu;
    const weights = [
      ['Burstable', milliCpuToShares(milliCpu)],
      ['BestEffort', milliCpuToShares(0)],
    ] as const;
    for (const [qosClass, cpuShares] of weights) {
      const path = names.path(names.qosParts(qosClass));
      if (this.#weights.get(path) === cpuShares && tree.exists(path)) continue;
      await tree.create(path);
      await tree.limit(path, { cpuShares });
      this.#weights.set(path, cpuShares);
    }
  }
}

/** The quota in a cgroup's file of either version; undefined: none. */
function quotaOf(text: string): number | undefined {
  const quota = Number(text.split(' ')[0]);
  return quota >= 0 ? quota : undefined;
}

/** -1 is more than any limit. */
function isMore(limit: number, current: number | undefined): boolean {
  return current !== undefined && (limit < 0 || limit > current);
}

function requestOf(pod: core.Pod): { readonly milliCpu: number; readonly qosClass: string } {
  return { milliCpu: quota.podRequests(withoutStatus(pod)).get('cpu')?.milliValue() ?? 0, qosClass: pod.status?.qosClass ?? 'BestEffort' };
}

/** Of a cgroup's name: the id itself, or `cri-containerd-ID.scope`. */
function containerIdOf(name: string): string {
  return name.replace(/\.scope$/, '').replace(/^.*-/, '');
}
