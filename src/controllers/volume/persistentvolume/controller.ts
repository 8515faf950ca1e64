import { core, storage } from '#api';
import { repeat } from '#base';
import { type EventRecorder, type EventText, keyOf, type Lister, parseKey, type ResourceClient } from '#client';
import type { Controller, ControllerContext, RunningController } from '../../runtime/controller.ts';
import { isGone, KeyedController } from '../../runtime/keyed-controller.ts';
import { podsByClaim } from '../../runtime/pod-claims.ts';
import { withClaimMigration, withVolumeMigration } from '../migrated-plugins.ts';
import {
  BIND_COMPLETED,
  claimBoundTo,
  claimInPhase,
  claimWithVolumeStatus,
  PROVISIONERS,
  volumeBoundTo,
  volumeInPhase,
  volumeUnbound,
  withAnnotations,
} from './binding.ts';
import { LatestObjects } from './latest-objects.ts';
import { findMatch } from './match-volume.ts';
import { type ClaimAction, reconcileClaim } from './reconcile-claim.ts';
import { mustAskForClaim, reclaim, reconcileVolume, type VolumeAction } from './reconcile-volume.ts';
import { classNameOf } from './storage-class.ts';
import { VolumeRecycler } from './volume-recycler.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

/** Binds claims to volumes, and releases volumes of deleted claims. */
export const persistentVolumeBinderController: Controller = {
  name: 'persistentvolume-binder-controller',
  aliases: ['persistentvolume-binder'],
  enabledByDefault: true,
  start: (context) => new PersistentVolumeBinder(context),
};

const UNBOUND_INDEX = 'unbound-class';
const FREE_INDEX = 'free-class';
const RESERVED_INDEX = 'reserved-claim';
/** Each step waits for a durable write. Two claims that choose the same volume conflict on its version, and the loser retries. */
const CONCURRENCY = 8;

function unboundClass(claim: Claim): readonly string[] {
  return claim.metadata.annotations?.[BIND_COMPLETED] === undefined ? [classNameOf(claim)] : [];
}

function freeClass(volume: Volume): readonly string[] {
  return volume.spec?.claimRef ? [] : [classNameOf(volume)];
}

function reservedClaim({ spec }: Volume): readonly string[] {
  return spec?.claimRef ? [claimKey(spec.claimRef)] : [];
}

class PersistentVolumeBinder implements RunningController {
  readonly #claimQueue: KeyedController;
  readonly #volumeQueue: KeyedController;
  readonly #events: EventRecorder;
  readonly #claims: LatestObjects<Claim>;
  readonly #volumes: LatestObjects<Volume>;
  readonly #cachedClaims: Lister<Claim>;
  readonly #classes: Lister<storage.StorageClass>;
  readonly #recycler: VolumeRecycler;
  readonly #podsOf: (claimKey: string) => readonly core.Pod[];

  constructor(private readonly context: ControllerContext) {
    const { informers } = context;
    const claims = informers.of(core.PersistentVolumeClaim).addIndex(UNBOUND_INDEX, unboundClass);
    const volumes = informers.of(core.PersistentVolume).addIndex(FREE_INDEX, freeClass).addIndex(RESERVED_INDEX, reservedClaim);
    this.#cachedClaims = claims.lister;
    this.#claims = new LatestObjects(claims.lister);
    this.#volumes = new LatestObjects(volumes.lister);
    this.#classes = informers.of(storage.StorageClass).lister;
    this.#podsOf = podsByClaim(informers.of(core.Pod));
    this.#events = context.recorder('persistentvolume-controller');
    this.#recycler = new VolumeRecycler(context, this.#events, {
      recycled: (volume) => this.#recycled(volume),
      failed: (volume, message) => this.#fail(volume, { type: 'Warning', reason: 'VolumeFailedRecycle', message }),
    });
    this.#claimQueue = new KeyedController(context, {
      name: 'claims',
      isExpected: isGone,
      concurrency: CONCURRENCY,
      objects: claims.lister,
      sync: (key) => this.#syncClaim(key),
    });
    this.#volumeQueue = new KeyedController(context, {
      name: 'volumes',
      isExpected: isGone,
      concurrency: CONCURRENCY,
      objects: volumes.lister,
      sync: (key) => this.#syncVolume(key),
    });
    claims.addHandler({ ...this.#claimQueue.handler<Claim>(), delete: (claim) => this.#claimGone(claim) });
    volumes.addHandler({
      add: (volume) => this.#volumeChanged(undefined, volume),
      update: (old, volume) => this.#volumeChanged(old, volume),
      delete: (volume) => this.#volumeGone(volume),
    });
  }

  async run(): Promise<void> {
    const { clock, signal, options, logger } = this.context;
    const onError = (error: unknown) => logger.error('resyncing all volumes failed', { error });
    const resync = repeat({ clock, signal, intervalMs: options.pvClaimBinderSyncPeriodMs, onError }, () => this.#resync());
    await Promise.all([this.#claimQueue.run(), this.#volumeQueue.run(), resync]);
    await this.#recycler.settled();
  }

  /** Periodic resync for state that changes without events. */
  #resync(): void {
    for (const claim of this.#claims.list()) this.#claimQueue.enqueue(claim);
    for (const volume of this.#volumes.list()) this.#volumeQueue.enqueue(volume);
  }

  #claimGone(claim: Claim): void {
    this.#claimQueue.enqueue(claim);
    if (claim.spec?.volumeName) this.#volumeQueue.queue.add(claim.spec.volumeName);
  }

  #volumeChanged(old: Volume | undefined, volume: Volume): void {
    this.#volumeQueue.enqueue(volume);
    if (volume.status?.phase === 'Available' && old?.status?.phase !== 'Available') this.#enqueueMatchingClaims(volume);
  }

  /** Syncs the claims that the volume may match, without waiting for the next resync. */
  #enqueueMatchingClaims(volume: Volume): void {
    for (const claim of this.#cachedClaims.byIndex(UNBOUND_INDEX, classNameOf(volume))) {
      const { volumeName } = claim.spec ?? {};
      const wants = volumeName ? volumeName === volume.metadata.name : findMatch(claim, [volume], { waitsForConsumer: false });
      if (wants) this.#claimQueue.enqueue(claim);
    }
  }

  #volumeGone(volume: Volume): void {
    this.#volumeQueue.enqueue(volume);
    this.#recycler.forget(volume.metadata.name);
    const { claimRef } = volume.spec ?? {};
    if (claimRef) this.#claimQueue.queue.add(claimKey(claimRef));
  }

  async #syncClaim(key: string): Promise<void> {
    const cached = this.#claims.get(parseKey(key));
    if (cached === undefined) return;
    const claim = await this.#saveClaim(cached, withClaimMigration(cached));
    const view = {
      volume: (name: string) => this.#volumes.get({ name }),
      // Volumes of other claims never match: there may be thousands.
      volumes: () => [...this.#volumes.byIndex(RESERVED_INDEX, key), ...this.#volumes.byIndex(FREE_INDEX, classNameOf(claim))],
      classes: () => this.#classes.list(),
      pods: () => this.#podsOf(key),
    };
    await this.#actOnClaim(claim, reconcileClaim(claim, view));
  }

  async #actOnClaim(claim: Claim, action: ClaimAction): Promise<void> {
    switch (action.type) {
      case 'bind':
        return this.#bind(claim, action.volume);
      case 'wait':
        if (action.event) this.#events.record(claim, action.event);
        await this.#saveClaimStatus(claim, claimInPhase(claim, 'Pending'));
        return;
      case 'lose':
        if (claim.status?.phase === 'Lost') return;
        this.#events.record(await this.#saveClaimStatus(claim, claimInPhase(claim, 'Lost')), action.event);
        return;
      case 'set-class':
        await this.#saveClaim(claim, { ...claim, spec: { ...claim.spec, storageClassName: action.className } });
        return;
      case 'ask-provisioner':
        return this.#setProvisioner(claim, action);
      case 'report':
        this.#events.record(claim, action.event);
        if (action.error !== undefined) throw new Error(action.error);
    }
  }

  /** Volume first, each step idempotent: an interrupted bind is continued in the next sync. */
  async #bind(claim: Claim, volume: Volume): Promise<void> {
    const reserved = await this.#saveVolume(volume, volumeBoundTo(volume, claim));
    const bound = await this.#saveVolumeStatus(reserved, volumeInPhase(reserved, 'Bound'));
    const binding = await this.#saveClaim(claim, claimBoundTo(claim, bound));
    await this.#saveClaimStatus(binding, claimWithVolumeStatus(binding, bound));
  }

  async #setProvisioner(claim: Claim, { provisioner, event }: ClaimAction & { readonly type: 'ask-provisioner' }): Promise<void> {
    const isAsked = claim.metadata.annotations?.[PROVISIONERS[0]] === provisioner;
    const names = Object.fromEntries(PROVISIONERS.map((name) => [name, provisioner]));
    this.#events.record(isAsked ? claim : await this.#saveClaim(claim, withAnnotations(claim, names)), event);
  }

  async #syncVolume(key: string): Promise<void> {
    const cached = this.#volumes.get(parseKey(key));
    if (cached === undefined) return;
    const volume = await this.#saveVolume(cached, withVolumeMigration(cached));
    const claim = await this.#claimOf(volume);
    await this.#actOnVolume(volume, claim, reconcileVolume(volume, claim));
  }

  async #claimOf(volume: Volume): Promise<Claim | undefined> {
    const { name = '', namespace } = volume.spec?.claimRef ?? {};
    const cached = this.#claims.get({ name, namespace });
    if (!mustAskForClaim(volume, cached)) return cached;
    try {
      return await this.context.client.of(core.PersistentVolumeClaim).get({ name, namespace });
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async #actOnVolume(volume: Volume, claim: Claim | undefined, action: VolumeAction): Promise<void> {
    switch (action.type) {
      case 'set-phase':
        await this.#saveVolumeStatus(volume, volumeInPhase(volume, action.phase));
        return;
      case 'release':
        return this.#release(volume);
      case 'unbind':
        return this.#unbind(volume);
      case 'tell-claim':
        if (claim) this.#claimQueue.enqueue(claim);
        return;
      case 'report-mismatch':
        this.#events.record(volume, action.onVolume);
        if (claim) this.#events.record(claim, action.onClaim);
    }
  }

  async #release(volume: Volume): Promise<void> {
    const isOver = volume.status?.phase === 'Released' || volume.status?.phase === 'Failed';
    const released = isOver ? volume : await this.#saveVolumeStatus(volume, volumeInPhase(volume, 'Released'));
    const key = claimKey(volume.spec?.claimRef ?? {});
    // Pods of a recreated claim do not use this volume.
    const pods = this.#claims.get(parseKey(key)) === undefined ? this.#podsOf(key) : [];
    const action = reclaim(released, pods);
    if (action.type === 'report') this.#events.record(released, action.event);
    if (action.type === 'recycle') this.#recycler.recycle(released);
    if (action.type === 'fail') await this.#fail(released, action.event);
  }

  async #unbind(volume: Volume): Promise<void> {
    const free = await this.#saveVolume(volume, volumeUnbound(volume));
    await this.#saveVolumeStatus(free, volumeInPhase(free, 'Available'));
  }

  async #recycled({ metadata }: Volume): Promise<void> {
    const volume = this.#volumes.get(metadata);
    // Deleted or recreated while its pod ran.
    if (volume?.metadata.uid !== metadata.uid || volume === undefined) return;
    this.#events.record(volume, { type: 'Normal', reason: 'VolumeRecycled', message: 'Volume recycled' });
    await this.#unbind(volume);
  }

  async #fail({ metadata }: Volume, event: EventText): Promise<void> {
    const volume = this.#volumes.get(metadata);
    if (volume?.metadata.uid !== metadata.uid || volume === undefined || volume.status?.phase === 'Failed') return;
    const failed = await this.#saveVolumeStatus(volume, volumeInPhase(volume, 'Failed', event.message));
    this.#events.record(failed, event);
  }

  #saveClaim(current: Claim, desired: Claim): Promise<Claim> {
    return save(this.#claims, { current, desired, write: (claim) => this.#claimClient.update(claim) });
  }

  #saveClaimStatus(current: Claim, desired: Claim): Promise<Claim> {
    return save(this.#claims, { current, desired, write: (claim) => this.#claimClient.updateStatus(claim) });
  }

  #saveVolume(current: Volume, desired: Volume): Promise<Volume> {
    return save(this.#volumes, { current, desired, write: (volume) => this.#volumeClient.update(volume) });
  }

  #saveVolumeStatus(current: Volume, desired: Volume): Promise<Volume> {
    return save(this.#volumes, { current, desired, write: (volume) => this.#volumeClient.updateStatus(volume) });
  }

  get #claimClient(): ResourceClient<Claim> {
    return this.context.client.of(core.PersistentVolumeClaim);
  }

  get #volumeClient(): ResourceClient<Volume> {
    return this.context.client.of(core.PersistentVolume);
  }
}

interface Save<T> {
  readonly current: T;
  /** The same object when there is nothing to write. */
  readonly desired: T;
  write(object: T): Promise<T>;
}

async function save<T extends Claim | Volume>(latest: LatestObjects<T>, { current, desired, write }: Save<T>): Promise<T> {
  if (desired === current) return current;
  const written = await write(desired);
  latest.wrote(written);
  return written;
}

function claimKey({ name = '', namespace = '' }: core.ObjectReference): string {
  return keyOf({ metadata: { name, namespace } });
}
