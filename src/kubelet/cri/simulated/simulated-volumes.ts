import { core, storage } from '#api';
import { AsyncMutex, Backoff, type Clock } from '#base';
import type { Client } from '#client';
import { attachedNameOf, checkAttached, driverOptions, NotAttachedError } from '../../csi/csi-volume.ts';
import { attachmentName } from '../../csi/volume-data.ts';
import type { PodContext, PodHook } from '../../pods/hooks/pod-hook.ts';
import { messageOf, VolumeError, type VolumeSpec } from '../../volumes/volume-plugin.ts';
import { mountedVolumes, resolveVolume } from '../../volumes/volume-specs.ts';

export interface SimulatedVolumesDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodeName: string;
}

/** The first retry is due when upstream reports what is missing: a claim that is bound until then is no failure. */
const RETRY = { initialMs: 300, maxMs: 122_000 };

/**
 * Claims on a node without a disk: nothing is mounted, but a pod starts only when its claims are bound and their volumes
 * attached, and the node reports its volumesInUse until the pod has ended, like a real one.
 */
export function simulatedVolumesHook(deps: SimulatedVolumesDeps): PodHook {
  const volumes = new SimulatedVolumes(deps);
  return {
    name: 'volumes',
    prepare: (context) => volumes.prepare(context),
    postStop: (context) => volumes.release(context),
    cleanUp: (context) => volumes.release(context),
  };
}

class SimulatedVolumes {
  /** Attachable volumes of each pod whose volumes are mounted or being mounted. */
  readonly #pods = new Map<string, readonly string[]>();
  /** Pods whose volumes are all mounted. */
  readonly #prepared = new Set<string>();
  readonly #reportLock = new AsyncMutex();
  /** Undefined: not reported yet; the node's status may predate a restart. */
  #reported: string | undefined;

  constructor(private readonly deps: SimulatedVolumesDeps) {}

  async prepare({ pod, uid, events, signal }: PodContext): Promise<void> {
    if (this.#prepared.has(uid)) return;
    const claimed = claimedVolumes(pod);
    if (claimed.length === 0) return;
    const backoff = new Backoff(RETRY);
    for (let isFirst = true; ; isFirst = false) {
      signal.throwIfAborted();
      try {
        return await this.#mount(pod, claimed, signal);
      } catch (error) {
        signal.throwIfAborted();
        const message = error instanceof VolumeError ? error.message : `Unable to attach or mount volumes: ${messageOf(error)}`;
        if (!isFirst && !(error instanceof NotAttachedError)) events.warning(undefined, 'FailedMount', message);
        await this.deps.clock.sleep(backoff.next(), signal);
      }
    }
  }

  async release({ pod, uid }: PodContext): Promise<void> {
    this.#pods.delete(uid);
    this.#prepared.delete(uid);
    // Independent of containers: pods whose containers cannot be read must be cleaned up too.
    const hasClaims = (pod.spec?.volumes ?? []).some((volume) => core.volumeClaimName(pod, volume) !== undefined);
    // Also if the pod is unknown: the report of an earlier call may have failed.
    if (hasClaims) await this.#report();
  }

  async #mount(pod: core.Pod, claimed: readonly core.Volume[], signal: AbortSignal): Promise<void> {
    const specs = await Promise.all(claimed.map((volume) => resolveVolume(volume, pod, this.deps.client)));
    const attachable: VolumeSpec[] = [];
    for (const spec of specs) if (await this.#mustBeAttached(spec)) attachable.push(spec);
    const uid = pod.metadata.uid ?? '';
    // The pod may have been released in the meantime.
    signal.throwIfAborted();
    this.#pods.set(uid, attachable.map(uniqueName));
    if (attachable.length > 0) await this.#report();
    for (const spec of attachable) await this.#checkAttached(spec);
    this.#prepared.add(uid);
  }

  async #mustBeAttached({ persistentVolume }: VolumeSpec): Promise<boolean> {
    if (core.inTreeAttachedName(persistentVolume?.spec ?? {}) !== undefined) return true;
    const driver = persistentVolume?.spec?.csi?.driver;
    return driver !== undefined && (await driverOptions(driver, this.deps.client)).attachRequired !== false;
  }

  async #checkAttached(spec: VolumeSpec): Promise<void> {
    const { name, persistentVolume } = spec;
    await checkAttached(uniqueName(spec), this.deps);
    if (persistentVolume?.spec?.csi === undefined) return;
    const { driver, volumeHandle } = persistentVolume.spec.csi;
    const attachment = attachmentName(volumeHandle, driver, this.deps.nodeName);
    const fail = (error: unknown): never => {
      throw new VolumeError('MountVolume.WaitForAttach', name, error);
    };
    const { metadata, status } = await this.deps.client.of(storage.VolumeAttachment).get({ name: attachment }).catch(fail);
    if (metadata.deletionTimestamp !== undefined) fail(new Error('volume attachment is being deleted'));
    if (status?.attached !== true) fail(new Error(status?.attachError?.message ?? `volume attachment ${attachment} is not attached yet`));
  }

  /** Read by the attach/detach controller. */
  async #report(): Promise<void> {
    await this.#reportLock.run(async () => {
      const volumesInUse = [...new Set([...this.#pods.values()].flat())].sort();
      if (volumesInUse.join() === this.#reported) return;
      const { client, nodeName } = this.deps;
      await client.of(core.Node).patch({ name: nodeName }, { status: { volumesInUse } }, { subresource: 'status' });
      this.#reported = volumesInUse.join();
    });
  }
}

function claimedVolumes(pod: core.Pod): readonly core.Volume[] {
  return mountedVolumes(pod).filter((volume) => core.volumeClaimName(pod, volume) !== undefined);
}

function uniqueName({ persistentVolume }: VolumeSpec): string {
  const { driver: driverName = '', volumeHandle = '' } = persistentVolume?.spec?.csi ?? {};
  return core.inTreeAttachedName(persistentVolume?.spec ?? {}) ?? attachedNameOf({ driverName, volumeHandle });
}
