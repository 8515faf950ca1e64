import { core, resource } from '#api';
import { Lru } from '#base';
import { parseKey, type SharedInformer } from '#client';
import type { ControllerContext } from '../runtime/controller.ts';
import { isGone } from '../runtime/keyed-controller.ts';
import { withoutFinalizer } from '../runtime/protection.ts';
import { CLAIM_FINALIZER, hasClaimFinalizer, isPodConsumer, isPodDone, owningPod, withConsumers } from './reconcile.ts';

type Claim = resource.ResourceClaim;
type Consumer = resource.ResourceClaimConsumerReference;

const REMEMBERED_PODS = 500;

interface Caches {
  readonly pods: SharedInformer<core.Pod>;
  readonly claims: SharedInformer<Claim>;
}

/** Releases claims of finished pods, and deletes generated claims. */
export class ClaimRelease {
  /** Uids of deleted pods, to save requests. */
  readonly #deletedPods = new Lru<string, true>({ capacity: REMEMBERED_PODS });

  constructor(
    private readonly context: ControllerContext,
    private readonly caches: Caches,
  ) {}

  recordDeletedPod({ metadata }: core.Pod): void {
    this.#deletedPods.set(metadata.uid ?? '', true);
  }

  async sync(key: string): Promise<void> {
    const claim = this.caches.claims.lister.get(parseKey(key));
    if (claim === undefined) return;
    const consumers = claim.status?.reservedFor ?? [];
    const remaining = await this.#activeConsumers(claim, consumers);
    if (remaining.length < consumers.length) await this.#free(withConsumers(claim, remaining));
    else if (remaining.length === 0 && claim.metadata.deletionTimestamp !== undefined) await this.#removeFinalizer(claim);
    if (remaining.length === 0) await this.#deleteUnneeded(claim);
  }

  async #activeConsumers({ metadata }: Claim, consumers: readonly Consumer[]): Promise<readonly Consumer[]> {
    const needs = await Promise.all(consumers.map((consumer) => !isPodConsumer(consumer) || this.#mayRun(consumer, metadata.namespace)));
    return consumers.filter((_, index) => needs[index]);
  }

  async #mayRun({ name, uid }: Consumer, namespace: string | undefined): Promise<boolean> {
    if (this.#deletedPods.get(uid)) return false;
    const cached = this.caches.pods.lister.get({ name, namespace });
    if (cached !== undefined) return cached.metadata.uid === uid && !isPodDone(cached);
    // The scheduler may know pods that the cache does not show yet: ask the server.
    try {
      const pod = await this.context.client.of(core.Pod).get({ name, namespace });
      return pod.metadata.uid === uid;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }

  /** The finalizer is removed together with the allocation. */
  async #free(claim: Claim): Promise<void> {
    const freed = await this.#client.updateStatus(claim);
    if (hasClaimFinalizer(freed) && freed.status?.allocation === undefined)
      await this.#client.update(withoutFinalizer(freed, CLAIM_FINALIZER));
  }

  async #removeFinalizer(claim: Claim): Promise<void> {
    if (!hasClaimFinalizer(claim)) return;
    const freed = claim.status?.allocation === undefined ? claim : await this.#client.updateStatus(withConsumers(claim, []));
    await this.#client.update(withoutFinalizer(freed, CLAIM_FINALIZER));
  }

  /** The pod may exist long after it finished. If the pod is not in the cache it may be too new: the garbage collector handles the claim. */
  async #deleteUnneeded(claim: Claim): Promise<void> {
    const owner = owningPod(claim);
    const { name, namespace } = claim.metadata;
    const pod = owner && this.caches.pods.lister.get({ name: owner.name, namespace });
    if (pod === undefined || (pod.metadata.uid === owner?.uid && !isPodDone(pod))) return;
    await this.#client.delete({ name, namespace });
  }

  get #client() {
    return this.context.client.of(resource.ResourceClaim);
  }
}
