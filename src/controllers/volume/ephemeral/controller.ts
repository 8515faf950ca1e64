import { core } from '#api';
import { keyOf, type Lister, parseKey } from '#client';
import type { Controller, ControllerContext, RunningController } from '../../runtime/controller.ts';
import { isControlledBy } from '../../runtime/controller-ref.ts';
import { KeyedController } from '../../runtime/keyed-controller.ts';
import { podsByClaim } from '../../runtime/pod-claims.ts';
import { claimFor, ephemeralVolumesOf } from './reconcile.ts';

/** Creates the claims of generic ephemeral volumes, owned by their pods. */
export const ephemeralVolumeController: Controller = {
  name: 'ephemeral-volume-controller',
  aliases: ['ephemeral-volume'],
  enabledByDefault: true,
  start: (context) => new EphemeralVolumeController(context),
};

class EphemeralVolumeController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #pods: Lister<core.Pod>;
  readonly #claims: Lister<core.PersistentVolumeClaim>;

  constructor(private readonly context: ControllerContext) {
    const pods = context.informers.of(core.Pod);
    const claims = context.informers.of(core.PersistentVolumeClaim);
    this.#pods = pods.lister;
    this.#claims = claims.lister;
    const { concurrentEphemeralVolumeSyncs: concurrency } = context.options;
    this.#keyed = new KeyedController(context, {
      name: 'ephemeral_volume',
      concurrency,
      objects: pods.lister,
      sync: (key) => this.#sync(key),
    });
    const podsOf = podsByClaim(pods);
    const considerUsers = (claim: core.PersistentVolumeClaim) => {
      for (const pod of podsOf(keyOf(claim))) this.#podChanged(pod);
    };
    // A pod's volumes are immutable, so only new pods and deleted claims matter.
    pods.addHandler({ add: (pod) => this.#podChanged(pod) });
    claims.addHandler({ delete: considerUsers });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  #podChanged(pod: core.Pod): void {
    if (pod.metadata.deletionTimestamp === undefined && ephemeralVolumesOf(pod).length > 0) this.#keyed.enqueue(pod);
  }

  async #sync(key: string): Promise<void> {
    const pod = this.#pods.get(parseKey(key));
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    for (const volume of ephemeralVolumesOf(pod)) {
      try {
        await this.#provide(pod, volume);
      } catch (error) {
        const message = `ephemeral volume ${volume.name}: ${(error as Error).message}`;
        this.context.recorder('ephemeral_volume').warning(pod, 'FailedBinding', message);
        throw new Error(`pod ${key}, ${message}`, { cause: error });
      }
    }
  }

  async #provide(pod: core.Pod, volume: core.Volume): Promise<void> {
    const { name: podName, namespace } = pod.metadata;
    const name = core.ephemeralClaimName(pod, volume);
    const claim = this.#claims.get({ name, namespace });
    if (claim === undefined) return this.#create(pod, volume);
    if (!isControlledBy(claim, pod)) {
      throw new Error(`PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`);
    }
  }

  async #create(pod: core.Pod, volume: core.Volume): Promise<void> {
    try {
      await this.context.client.of(core.PersistentVolumeClaim).create(claimFor(pod, volume));
    } catch (error) {
      throw new Error(`create PVC ${core.ephemeralClaimName(pod, volume)}: ${(error as Error).message}`, { cause: error });
    }
  }
}
