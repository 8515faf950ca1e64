import { core } from '#api';
import type { MaybePromise } from '#base';
import { keyOf, type Lister, Quarantine } from '#client';
import type { Controller, ControllerContext, RunningController } from '../../runtime/controller.ts';
import { isGone, KeyedController } from '../../runtime/keyed-controller.ts';
import { podsByClaim } from '../../runtime/pod-claims.ts';
import { type ProtectionStep, protectionStep, withFinalizer, withoutFinalizer } from '../../runtime/protection.ts';
import { CLAIM_FINALIZER, usesClaim } from './reconcile.ts';

type Claim = core.PersistentVolumeClaim;

/** Keeps deleted claims until no pod uses them. */
export const pvcProtectionController: Controller = {
  name: 'persistentvolumeclaim-protection-controller',
  aliases: ['pvc-protection'],
  enabledByDefault: true,
  start: (context) => new PvcProtectionController(context),
};

/** Works per namespace, so that many claims deleted together cost one list of its pods. */
class PvcProtectionController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #claims: Lister<Claim>;
  readonly #quarantine: Quarantine;
  readonly #podsOf: (claimKey: string) => readonly core.Pod[];

  constructor(private readonly context: ControllerContext) {
    const claims = context.informers.of(core.PersistentVolumeClaim);
    const pods = context.informers.of(core.Pod);
    this.#claims = claims.lister;
    this.#quarantine = new Quarantine(`${context.name} claims`, { ...context, recorder: context.recorder(context.name) });
    this.#podsOf = podsByClaim(pods);
    this.#keyed = new KeyedController(context, { name: 'pvcprotection', isExpected: isGone, sync: (namespace) => this.#sync(namespace) });
    claims.addHandler({ add: (claim) => this.#enqueueIfNeeded(claim), update: (_, claim) => this.#enqueueIfNeeded(claim) });
    const considerOf = (pod: core.Pod) => this.#enqueueClaimsOf(pod);
    pods.addHandler({
      add: considerOf,
      delete: considerOf,
      update: (old, pod) => {
        considerOf(pod);
        // A recreated pod of the same name may have had other claims.
        if (old.metadata.uid !== pod.metadata.uid) considerOf(old);
      },
    });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  #enqueueIfNeeded(claim: Claim): void {
    if (protectionStep(claim, CLAIM_FINALIZER) !== undefined) this.#keyed.queue.add(claim.metadata.namespace ?? '');
  }

  #enqueueClaimsOf(pod: core.Pod): void {
    for (const name of core.volumeClaimNames(pod)) {
      const claim = this.#claims.get({ name, namespace: pod.metadata.namespace });
      if (claim !== undefined) this.#enqueueIfNeeded(claim);
    }
  }

  async #sync(namespace: string): Promise<void> {
    const claims = this.#claims.list(namespace);
    const bare = claims.filter((claim) => this.#stepOf(claim) === 'add');
    const unused = await this.#unused(namespace, claims);
    const finalizers = [
      ...bare.map((claim) => withFinalizer(claim, CLAIM_FINALIZER)),
      ...unused.map((claim) => withoutFinalizer(claim, CLAIM_FINALIZER)),
    ];
    const client = this.context.client.of(core.PersistentVolumeClaim);
    const results = await Promise.allSettled(finalizers.map((claim) => client.update(claim)));
    const failed = results.find((result) => result.status === 'rejected' && !isGone(result.reason));
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /** A claim that fails does not block the others of its namespace. */
  #stepOf(claim: Claim): MaybePromise<ProtectionStep> {
    return this.#quarantine.contain(
      keyOf(claim),
      () => protectionStep(claim, CLAIM_FINALIZER),
      () => claim,
    );
  }

  /** Deleted claims that no pod uses, neither in the cache nor, as it may be stale, on the server. */
  async #unused(namespace: string, claims: readonly Claim[]): Promise<readonly Claim[]> {
    const deleted = claims.filter((claim) => this.#stepOf(claim) === 'release-when-unused');
    const candidates = deleted.filter((claim) => !this.#podsOf(keyOf(claim)).some((pod) => usesClaim(pod, claim)));
    if (candidates.length === 0) return [];
    const { items } = await this.context.client.of(core.Pod).listAll({ namespace });
    return candidates.filter((claim) => !items.some((pod) => usesClaim(pod, claim)));
  }
}
