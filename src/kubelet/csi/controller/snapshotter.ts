import { core } from '#api';
import type { Requeue } from '#base';
import { keyOf, type ObjectKey, parseKey } from '#client';
import { formatTime, isStatusReason, Quantity } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { type DriverController, type DriverControllerDeps, ignoreError } from './driver-controller.ts';
import { BEING_DELETED, contentName, newContent } from './new-content.ts';
import { SNAPSHOT, SNAPSHOT_CONTENT, type VolumeSnapshot, type VolumeSnapshotContent } from './snapshot-kinds.ts';
import { quoted, SnapshotError, SnapshotSources } from './snapshot-source.ts';

/** The finalizer of a snapshot that volumes may be restored from. */
const SOURCE = 'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection';
/** On a snapshot whose content is deleted with it. */
const BOUND = 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection';
const RETRY_MS = 5_000;

/** Binds VolumeSnapshots to VolumeSnapshotContents, like snapshot-controller, for one driver. */
export function snapshotController(deps: DriverControllerDeps): DriverController {
  const { informers } = deps;
  const snapshots = informers.resource(SNAPSHOT);
  const contents = informers.resource(SNAPSHOT_CONTENT);
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
  readonly #sources: SnapshotSources;

  constructor(private readonly deps: DriverControllerDeps) {
    this.#sources = new SnapshotSources(deps);
  }

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
    // What no driver is known for is reported by each: the same error is written once.
    const driver = content?.spec.driver ?? this.#sources.driverOf(snapshot);
    if (driver !== undefined && driver !== this.deps.driver.name) return undefined;
    await this.#sources.release(snapshot);
    if (snapshot.metadata.deletionTimestamp !== undefined) return this.#delete(snapshot, content);
    await this.#protect(snapshot, [SOURCE]);
    try {
      if (snapshot.status?.readyToUse === true && snapshot.status.boundVolumeSnapshotContentName) checkReady(snapshot, content);
      else if (snapshot.spec.source.volumeSnapshotContentName !== undefined) await this.#bind(snapshot, content);
      else if (content !== undefined) await this.#showOwn(snapshot, content);
      else await this.#begin(snapshot);
      return undefined;
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      return this.#fail(snapshot, error);
    }
  }

  #contentOf({ metadata, spec, status }: VolumeSnapshot): VolumeSnapshotContent | undefined {
    const isReady = status?.readyToUse === true ? status.boundVolumeSnapshotContentName : undefined;
    const name = spec.source.volumeSnapshotContentName ?? isReady ?? contentName(metadata.uid);
    return this.deps.informers.resource(SNAPSHOT_CONTENT).lister.get({ name }) as VolumeSnapshotContent | undefined;
  }

  /** Binds the snapshot to its pre-provisioned content. */
  async #bind(snapshot: VolumeSnapshot, content: VolumeSnapshotContent | undefined): Promise<void> {
    if (content === undefined) throw new SnapshotError('SnapshotContentMissing', 'VolumeSnapshotContent is missing');
    if (content.spec.source.snapshotHandle === undefined)
      throw new SnapshotError(
        'SnapshotContentMismatch',
        'VolumeSnapshotContent is dynamically provisioned while expecting a pre-provisioned one',
      );
    const { uid } = content.spec.volumeSnapshotRef;
    checkReference(snapshot, content);
    const { volumeSnapshotClassName = content.spec.volumeSnapshotClassName } = snapshot.spec;
    if (!uid || volumeSnapshotClassName !== content.spec.volumeSnapshotClassName) {
      const volumeSnapshotRef = { ...content.spec.volumeSnapshotRef, uid: snapshot.metadata.uid };
      await this.#contents.patch(content.metadata, { spec: { volumeSnapshotRef, volumeSnapshotClassName } });
    }
    await this.#show(snapshot, content);
  }

  /** To the content that was made for it here. */
  async #showOwn(snapshot: VolumeSnapshot, content: VolumeSnapshotContent): Promise<void> {
    const { name } = content.metadata;
    if (content.spec.source.volumeHandle === undefined)
      throw new SnapshotError(
        'SnapshotContentMismatch',
        `VolumeSnapshotContent ${name} is pre-provisioned while expecting a dynamically provisioned one`,
      );
    checkReference(snapshot, content);
    await this.#show(snapshot, content);
  }

  /** There is no content yet. */
  async #begin(snapshot: VolumeSnapshot): Promise<void> {
    const { events } = this.deps;
    const chosen = this.#sources.classOf(snapshot);
    const { namespace, name } = snapshot.metadata;
    const { name: volumeSnapshotClassName } = chosen.metadata;
    if (snapshot.spec.volumeSnapshotClassName === undefined)
      await this.#snapshots.patch(snapshot.metadata, { spec: { volumeSnapshotClassName } });
    try {
      await this.#sources.protect(snapshot);
      const content = newContent(snapshot, chosen, this.#volumeFor(snapshot));
      if (chosen.deletionPolicy === 'Delete') await this.#protect(snapshot, [BOUND]);
      await this.#contents.create(content as never).catch(ignoreError('AlreadyExists'));
    } catch (error) {
      if (isStatusReason(error, 'Conflict')) throw error;
      throw new SnapshotError('SnapshotContentCreationFailed', `Failed to create snapshot content with error ${messageOf(error)}`);
    }
    events.normal(snapshot, 'CreatingSnapshot', `Waiting for a snapshot ${namespace}/${name} to be created by the CSI driver.`);
  }

  #volumeFor(snapshot: VolumeSnapshot): core.PersistentVolume {
    try {
      const volume = this.#sources.volumeOf(snapshot);
      if (volume.spec?.csi === undefined) throw new Error(`cannot find CSI PersistentVolumeSource for volume ${volume.metadata.name}`);
      return volume;
    } catch (error) {
      const { name } = snapshot.metadata;
      throw new Error(`failed to get input parameters to create snapshot ${name}: ${quoted(messageOf(error))}`, { cause: error });
    }
  }

  async #show(snapshot: VolumeSnapshot, { metadata, spec, status = {} }: VolumeSnapshotContent): Promise<void> {
    const { events } = this.deps;
    if (spec.deletionPolicy === 'Delete') await this.#protect(snapshot, [BOUND]);
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

  async #fail(snapshot: VolumeSnapshot, { reason, message }: SnapshotError): Promise<Requeue> {
    if (snapshot.status?.error?.message !== message) {
      this.deps.events.warning(snapshot, reason, message);
      const error = { message, time: formatTime(this.deps.clock.now()) };
      const readyToUse = reason.endsWith('ClassFailed') ? undefined : false;
      await this.#snapshots.patch(snapshot.metadata, { status: { readyToUse, error } }, { subresource: 'status' });
    }
    return { afterMs: RETRY_MS };
  }

  /** With the policy Delete the content is deleted first, and the snapshot in the storage system with it. */
  async #delete(snapshot: VolumeSnapshot, named: VolumeSnapshotContent | undefined): Promise<Requeue | undefined> {
    const { events } = this.deps;
    if (![SOURCE, BOUND].some((finalizer) => snapshot.metadata.finalizers?.includes(finalizer))) return undefined;
    const content = named?.spec.volumeSnapshotRef.uid === snapshot.metadata.uid ? named : undefined;
    const claims = this.deps.informers.of(core.PersistentVolumeClaim).lister.list();
    if (content !== undefined && claims.some((claim) => isRestoredFrom(claim, snapshot))) {
      events.warning(snapshot, 'SnapshotDeletePending', 'Snapshot is being used to restore a PVC');
      return { afterMs: RETRY_MS };
    }
    if (content !== undefined && content.metadata.annotations?.[BEING_DELETED] === undefined)
      await this.#contents.patch(content.metadata, { metadata: { annotations: { [BEING_DELETED]: 'yes' } } });
    const isShared = content?.spec.deletionPolicy === 'Delete';
    if (isShared && content.metadata.deletionTimestamp === undefined) await this.#deleteContent(snapshot, content);
    await this.#unprotect(snapshot, isShared ? [SOURCE] : [SOURCE, BOUND]);
    return undefined;
  }

  async #deleteContent(snapshot: VolumeSnapshot, content: VolumeSnapshotContent): Promise<void> {
    try {
      await this.#contents.delete(content.metadata).catch(ignoreError('NotFound'));
    } catch (error) {
      this.deps.events.warning(snapshot, 'SnapshotContentObjectDeleteError', 'Failed to delete snapshot content API object');
      throw error;
    }
  }

  async #protect({ metadata }: VolumeSnapshot, added: readonly string[]): Promise<void> {
    if (added.every((name) => metadata.finalizers?.includes(name))) return;
    await this.#changeFinalizers(metadata, (before) => [...before, ...added.filter((name) => !before.includes(name))]);
  }

  async #unprotect({ metadata }: VolumeSnapshot, removed: readonly string[]): Promise<void> {
    await this.#changeFinalizers(metadata, (before) => before.filter((name) => !removed.includes(name)));
  }

  async #changeFinalizers(key: ObjectKey, change: (before: readonly string[]) => readonly string[]): Promise<void> {
    const current = await this.#snapshots.get(key).catch(ignoreError('NotFound'));
    const { finalizers: before = [], resourceVersion } = current?.metadata ?? {};
    const finalizers = change(before);
    if (current === undefined || finalizers.length === before.length) return;
    await this.#snapshots.patch(key, { metadata: { finalizers, resourceVersion } }).catch(ignoreError('NotFound'));
  }
}

/** A snapshot that was ready stays bound to its content. */
function checkReady(snapshot: VolumeSnapshot, content: VolumeSnapshotContent | undefined): void {
  if (content === undefined) throw new SnapshotError('SnapshotContentMissing', 'VolumeSnapshotContent is missing');
  if (content.spec.volumeSnapshotRef.uid !== snapshot.metadata.uid)
    throw new SnapshotError('SnapshotMisbound', 'VolumeSnapshotContent is not bound to the VolumeSnapshot correctly');
}

function checkReference({ metadata }: VolumeSnapshot, content: VolumeSnapshotContent): void {
  const { name, namespace, uid } = content.spec.volumeSnapshotRef;
  if (name === metadata.name && namespace === metadata.namespace && (!uid || uid === metadata.uid)) return;
  const message = `VolumeSnapshotContent [${content.metadata.name}] is bound to a different snapshot`;
  throw new SnapshotError('SnapshotContentMisbound', message);
}

function isRestoredFrom({ metadata, spec, status }: core.PersistentVolumeClaim, snapshot: VolumeSnapshot): boolean {
  const source = spec?.dataSourceRef ?? spec?.dataSource;
  const isSame =
    source?.kind === 'VolumeSnapshot' && source.name === snapshot.metadata.name && metadata.namespace === snapshot.metadata.namespace;
  return isSame && status?.phase === 'Pending';
}
