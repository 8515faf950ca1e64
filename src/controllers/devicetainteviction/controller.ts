import { core, resource } from '#api';
import { parseKey, type SharedInformer } from '#client';
import { formatTime } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { markDisruptionTarget } from '../runtime/disruption-target.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { allocatedDevices, evictionTime, poolKey } from './reconcile.ts';

type Claim = resource.ResourceClaim;
type Slice = resource.ResourceSlice;

const NAME = 'device-taint-eviction-controller';
const WORKERS = 8;
const BY_POOL = 'pool';

/** Deletes pods that use devices with NoExecute taints, once their claims no longer tolerate them. */
export const deviceTaintEvictionController: Controller = {
  name: NAME,
  enabledByDefault: true,
  start: (context) => new DeviceTaintEvictionController(context),
};

class DeviceTaintEvictionController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #pods: SharedInformer<core.Pod>;
  readonly #claims: SharedInformer<Claim>;
  readonly #slices: SharedInformer<Slice>;
  /** Planned evictions: pod uids by key. */
  readonly #planned = new Map<string, string>();

  constructor(private readonly context: ControllerContext) {
    const { informers } = context;
    this.#pods = informers.of(core.Pod);
    this.#claims = informers.of(resource.ResourceClaim).addIndex(BY_POOL, claimPools);
    this.#slices = informers.of(resource.ResourceSlice).addIndex(BY_POOL, slicePools);
    const sync = (key: string) => this.#sync(key);
    this.#keyed = new KeyedController(context, {
      name: 'device_taint_eviction',
      concurrency: WORKERS,
      isExpected: isGone,
      objects: this.#pods.lister,
      sync,
    });
    this.#follow();
  }

  #follow(): void {
    const consider = (pod: core.Pod) => {
      if ((pod.spec?.resourceClaims?.length ?? 0) > 0) this.#keyed.enqueue(pod);
    };
    this.#pods.addHandler({ add: consider, update: (_, pod) => consider(pod), delete: consider });
    const considerUsers = (claim: Claim) => this.#enqueuePodsOf(claim);
    this.#claims.addHandler({
      add: considerUsers,
      update: (before, claim) => {
        considerUsers(before);
        considerUsers(claim);
      },
      delete: considerUsers,
    });
    const considerPool = (slice: Slice) => {
      for (const pool of slicePools(slice)) for (const claim of this.#claims.lister.byIndex(BY_POOL, pool)) considerUsers(claim);
    };
    this.#slices.addHandler({ add: considerPool, update: (_, slice) => considerPool(slice), delete: considerPool });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  #enqueuePodsOf({ metadata, status }: Claim): void {
    for (const { resource: of, name } of status?.reservedFor ?? []) {
      if (of === 'pods') this.#keyed.queue.add(`${metadata.namespace}/${name}`);
    }
  }

  async #sync(key: string): Promise<void> {
    const pod = this.#pods.lister.get(parseKey(key));
    const planned = this.#planned.get(key);
    this.#planned.delete(key);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    const due = this.#evictionTime(pod);
    if (due === undefined) {
      if (planned === pod.metadata.uid) this.#recordEvent(pod, 'Cancelling deletion');
      return;
    }
    const left = due - this.context.clock.now();
    if (left <= 0) return this.#evict(pod);
    this.#planned.set(key, pod.metadata.uid ?? '');
    this.#keyed.enqueueAfter(pod, left);
  }

  #evictionTime(pod: core.Pod): number | undefined {
    const { namespace } = pod.metadata;
    return evictionTime(pod, {
      claim: (name) => this.#claims.lister.get({ name, namespace }),
      slices: (pool) => this.#slices.lister.byIndex(BY_POOL, pool),
    });
  }

  async #evict(pod: core.Pod): Promise<void> {
    this.#recordEvent(pod, 'Marking for deletion');
    const { client, clock } = this.context;
    const { name, namespace, uid = '' } = pod.metadata;
    const message = 'Device Taint manager: deleting due to NoExecute taint';
    const lastTransitionTime = formatTime(clock.now());
    await markDisruptionTarget(pod, { reason: 'DeletionByDeviceTaintManager', message, lastTransitionTime }, client);
    await client.of(core.Pod).delete({ name, namespace }, { preconditions: { uid } });
  }

  #recordEvent(pod: core.Pod, message: string): void {
    this.context.recorder(NAME).normal(pod, 'DeviceTaintManagerEviction', message);
  }
}

function claimPools(claim: Claim): readonly string[] {
  return [...new Set(allocatedDevices(claim).map(poolKey))];
}

function slicePools({ spec }: Slice): readonly string[] {
  return spec?.driver && spec.pool ? [poolKey({ driver: spec.driver, pool: spec.pool.name })] : [];
}
