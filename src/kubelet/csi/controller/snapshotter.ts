import { core } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { formatTime, Quantity } from '#machinery';
import { type DriverController, type DriverControllerDeps, ignoreError } from './driver-controller.ts';
import {
  SNAPSHOT,
  SNAPSHOT_CLASS,
  SNAPSHOT_CONTENT,
  type VolumeSnapshot,
  type VolumeSnapshotClass,
  type VolumeSnapshotContent,
} from './snapshot-kinds.ts';

/** Finalizer of snapshots and contents that are bound to each other. */
const BOUND = 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection';
export const CONTENT_BOUND = 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection';
const DEFAULT_CLASS = 'snapshot.storage.kubernetes.io/is-default-class';
const BEING_DELETED = 'snapshot.storage.kubernetes.io/volumesnapshot-being-deleted';
export const SECRET = 'snapshot.storage.kubernetes.io/deletion-secret';
const SECRET_PARAMETER = 'csi.storage.k8s.io/snapshotter-secret';
const RETRY_MS = 5_000;

/** Binds VolumeSnapshots to VolumeSnapshotContents, like snapshot-controller, for one driver. */
export function snapshotController(deps: DriverControllerDeps): DriverController {
  const { informers } = deps;
  const snapshots = informers.resource(SNAPSHOT);
  const contents = informers.resource(SNAPSHOT_CONTENT);
  informers.resource(SNAPSHOT_CLASS);
  informers.of(core.PersistentVolumeClaim);
  informers.of(core.PersistentVolume);
  const binder = new SnapshotBinder(deps);
  return {
    name: 'snapshot',
    sidecarLease: 'snapshot-controller-leader',
    follow(enqueue) {
      snapshots.addHandler({ add: (snapshot) => enqueue(keyOf(snapshot)), update: (_, snapshot) => enqueue(keyOf(snapshot)) });
      const contentChanged = (content: object) => {
        const { name = '', namespace = '' } = (content as VolumeSnapshotContent).spec.volumeSnapshotRef;
        enqueue(keyOf({ metadata: { name, namespace } }));
      };
      contents.addHandler({ add: contentChanged, update: (_, content) => contentChanged(content), delete: contentChanged });
    },
    sync: (key) => binder.sync(key),
  };
}

class SnapshotBinder {
  constructor(private readonly deps: DriverControllerDeps) {}

  get #snapshots() {
    return this.deps.client.resource(SNAPSHOT);
  }

  get #contents() {
    return this.deps.client.resource(SNAPSHOT_CONTENT);
  }

  async sync(key: string): Promise<Requeue | undefined> {
    const snapshot = this.deps.informers.resource(SNAPSHOT).lister.get(parseKey(key)) as VolumeSnapshot | undefined;
    if (snapshot === undefined) return undefined;
    const content = this.#contentOf(snapshot);
    if (snapshot.metadata.deletionTimestamp !== undefined) return this.#delete(snapshot, content);
    if (content === undefined) return this.#begin(snapshot);
    if (content.spec.driver !== this.deps.driver.name) return undefined;
    const { name, namespace, uid } = content.spec.volumeSnapshotRef;
    const isOurs = name === snapshot.metadata.name && namespace === snapshot.metadata.namespace && (!uid || uid === snapshot.metadata.uid);
    if (!isOurs)
      return this.#fail(snapshot, 'SnapshotContentMisbound', `VolumeSnapshotContent ${content.metadata.name} is bound to another snapshot`);
    if (!uid)
      await this.#contents.patch(content.metadata, {
        spec: { volumeSnapshotRef: { ...content.spec.volumeSnapshotRef, uid: snapshot.metadata.uid } },
      });
    await this.#protect(snapshot, true);
    await this.#show(snapshot, content);
    return undefined;
  }

  #contentOf({ metadata, spec }: VolumeSnapshot): VolumeSnapshotContent | undefined {
    const name = spec.source.volumeSnapshotContentName ?? contentName(metadata.uid);
    return this.deps.informers.resource(SNAPSHOT_CONTENT).lister.get({ name }) as VolumeSnapshotContent | undefined;
  }

  /** There is no content yet: for a snapshot of a claim it is created. */
  async #begin(snapshot: VolumeSnapshot): Promise<Requeue | undefined> {
    const { informers, driver, events } = this.deps;
    const { persistentVolumeClaimName: claimName, volumeSnapshotContentName } = snapshot.spec.source;
    // Only the content names the driver.
    if (volumeSnapshotContentName !== undefined || claimName === undefined) return undefined;
    const { namespace } = snapshot.metadata;
    const claim = informers.of(core.PersistentVolumeClaim).lister.get({ name: claimName, namespace });
    const volume = claim && informers.of(core.PersistentVolume).lister.get({ name: claim.spec?.volumeName ?? '' });
    // An unbound claim may still become this driver's.
    if (claim?.status?.phase !== 'Bound' || volume === undefined) return { afterMs: RETRY_MS };
    if (volume.spec?.csi?.driver !== driver.name) return undefined;
    const chosen = this.#classOf(snapshot);
    if (typeof chosen === 'string')
      return this.#fail(snapshot, 'SnapshotContentCreationFailed', `Failed to create snapshot content with error ${chosen}`);
    await this.#protect(snapshot, true);
    const { name: volumeSnapshotClassName } = chosen.metadata;
    if (snapshot.spec.volumeSnapshotClassName === undefined)
      await this.#snapshots.patch(snapshot.metadata, { spec: { volumeSnapshotClassName } });
    await this.#contents.create(newContent(snapshot, chosen, volume) as never).catch(ignoreError('AlreadyExists'));
    events.normal(
      snapshot,
      'CreatingSnapshot',
      `Waiting for a snapshot ${namespace}/${snapshot.metadata.name} to be created by the CSI driver.`,
    );
    return undefined;
  }

  /** The named class or the driver's default, or the error message. */
  #classOf({ spec }: VolumeSnapshot): VolumeSnapshotClass | string {
    const { driver, informers } = this.deps;
    const all = informers.resource(SNAPSHOT_CLASS).lister.list() as readonly VolumeSnapshotClass[];
    const { volumeSnapshotClassName: name } = spec;
    if (name !== undefined) {
      const named = all.find(({ metadata }) => metadata.name === name);
      if (named === undefined) return `volumesnapshotclass.snapshot.storage.k8s.io "${name}" not found`;
      return named.driver === driver.name
        ? named
        : `volume snapshot class ${name} is for driver ${named.driver}, the volume is of ${driver.name}`;
    }
    const defaults = all.filter((entry) => entry.driver === driver.name && entry.metadata.annotations?.[DEFAULT_CLASS] === 'true');
    const [only] = defaults;
    if (only === undefined) return `cannot find default snapshot class`;
    return defaults.length === 1 ? only : `${defaults.length} default snapshot classes were found`;
  }

  async #show(snapshot: VolumeSnapshot, { metadata, status = {} }: VolumeSnapshotContent): Promise<void> {
    const { events } = this.deps;
    const { creationTime, readyToUse = false, restoreSize, error } = status;
    const newStatus = {
      boundVolumeSnapshotContentName: metadata.name,
      readyToUse,
      ...(creationTime !== undefined && { creationTime: formatTime(creationTime / 1e6) }),
      ...(restoreSize !== undefined && { restoreSize: Quantity.of(restoreSize, 'BinarySI').toString() }),
      ...(error ? { error } : { error: null }),
    };
    const { namespace, name } = snapshot.metadata;
    const before = snapshot.status ?? {};
    if (creationTime !== undefined && before.creationTime === undefined)
      events.normal(snapshot, 'SnapshotCreated', `Snapshot ${namespace}/${name} was successfully created by the CSI driver.`);
    if (readyToUse && before.readyToUse !== true)
      events.normal(snapshot, 'SnapshotReady', `Snapshot ${namespace}/${name} is ready to use.`);
    await this.#snapshots.patch(snapshot.metadata, { status: newStatus }, { subresource: 'status' });
  }

  async #fail(snapshot: VolumeSnapshot, reason: string, message: string): Promise<Requeue> {
    if (snapshot.status?.error?.message !== message) {
      this.deps.events.warning(snapshot, reason, message);
      const error = { message, time: formatTime(this.deps.clock.now()) };
      await this.#snapshots.patch(snapshot.metadata, { status: { readyToUse: false, error } }, { subresource: 'status' });
    }
    return { afterMs: RETRY_MS };
  }

  /** With the policy Delete the content is deleted first, and the snapshot in the storage system with it. */
  async #delete(snapshot: VolumeSnapshot, content: VolumeSnapshotContent | undefined): Promise<Requeue | undefined> {
    if (content !== undefined && content.spec.driver !== this.deps.driver.name) return undefined;
    const isBound = content?.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;
    if (content === undefined || !isBound || content.spec.deletionPolicy === 'Retain') return this.#protect(snapshot, false);
    const isUsed = this.deps.informers
      .of(core.PersistentVolumeClaim)
      .lister.list()
      .some((claim) => isRestoredFrom(claim, snapshot));
    if (isUsed) {
      this.deps.events.warning(snapshot, 'SnapshotDeletePending', 'Snapshot is being used to restore a PVC');
      return { afterMs: RETRY_MS };
    }
    if (content.metadata.annotations?.[BEING_DELETED] === undefined)
      await this.#contents.patch(content.metadata, { metadata: { annotations: { [BEING_DELETED]: 'yes' } } });
    if (content.metadata.deletionTimestamp === undefined) await this.#contents.delete(content.metadata).catch(ignoreError('NotFound'));
    return undefined;
  }

  async #protect({ metadata }: VolumeSnapshot, isProtected: boolean): Promise<undefined> {
    const { finalizers = [], resourceVersion } = metadata;
    if (finalizers.includes(BOUND) === isProtected) return;
    const next = isProtected ? [...finalizers, BOUND] : finalizers.filter((name) => name !== BOUND);
    await this.#snapshots.patch(metadata, { metadata: { finalizers: next, resourceVersion } }).catch(ignoreError('NotFound'));
  }
}

function isRestoredFrom({ metadata, spec, status }: core.PersistentVolumeClaim, snapshot: VolumeSnapshot): boolean {
  const source = spec?.dataSourceRef ?? spec?.dataSource;
  const isSame =
    source?.kind === 'VolumeSnapshot' && source.name === snapshot.metadata.name && metadata.namespace === snapshot.metadata.namespace;
  return isSame && status?.phase === 'Pending';
}

export function contentName(snapshotUid: string | undefined): string {
  return `snapcontent-${snapshotUid}`;
}

function newContent({ metadata }: VolumeSnapshot, chosen: VolumeSnapshotClass, volume: core.PersistentVolume): object {
  const { name, namespace, uid, resourceVersion } = metadata;
  const [secretName, secretNamespace] = ['name', 'namespace'].map((part) => chosen.parameters?.[`${SECRET_PARAMETER}-${part}`]);
  return {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: {
      name: contentName(uid),
      finalizers: [CONTENT_BOUND],
      ...(secretName && secretNamespace && { annotations: { [`${SECRET}-name`]: secretName, [`${SECRET}-namespace`]: secretNamespace } }),
    },
    spec: {
      ...{ driver: chosen.driver, deletionPolicy: chosen.deletionPolicy, volumeSnapshotClassName: chosen.metadata.name },
      source: { volumeHandle: volume.spec?.csi?.volumeHandle },
      sourceVolumeMode: volume.spec?.volumeMode ?? 'Filesystem',
      volumeSnapshotRef: { kind: 'VolumeSnapshot', apiVersion: 'snapshot.storage.k8s.io/v1', name, namespace, uid, resourceVersion },
    },
  };
}
