import { type core, storage } from '#api';
import type { Requeue } from '#base';
import { formatTime, isStatusReason } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { CreateSnapshot, DeleteSnapshot, ListSnapshots, type Snapshot } from '../messages.ts';
import { type DriverController, type DriverControllerDeps, ignoreError, leaseName } from './driver-controller.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';
import { BEING_DELETED, CONTENT_BOUND, createMetadata, DELETION_SECRET, snapshotParameters, snapshotSecret } from './new-content.ts';
import { sidecarFlags } from './sidecar-flags.ts';
import { SNAPSHOT, SNAPSHOT_CLASS, SNAPSHOT_CONTENT, type VolumeSnapshotClass, type VolumeSnapshotContent } from './snapshot-kinds.ts';
import { quoted } from './snapshot-source.ts';

type Content = VolumeSnapshotContent;

/** A snapshot may be in progress, or its outcome unknown: the content must not be deleted before that is resolved. */
const BEING_CREATED = 'snapshot.storage.kubernetes.io/volumesnapshot-being-created';
const NOT_READY_RETRY_MS = 5_000;

/** Creates and deletes snapshots for VolumeSnapshotContents, like external-snapshotter. */
export function snapshotContentController(deps: DriverControllerDeps): DriverController {
  const { informers, driver } = deps;
  const contents = informers.resource(SNAPSHOT_CONTENT);
  informers.resource(SNAPSHOT_CLASS);
  informers.of(storage.CSIDriver);
  const snapshotter = new Snapshotter(deps);
  return {
    name: 'snapshot-content',
    sidecarLease: leaseName(`external-snapshotter-leader-${driver.name}`),
    follow(enqueue) {
      const add = (object: object) => {
        const { metadata, spec } = object as Content;
        if (spec.driver === driver.name) enqueue(metadata.name);
      };
      const update = (before: object, after: object) => {
        if (withoutOwnReports(before as Content) !== withoutOwnReports(after as Content)) add(after);
      };
      contents.addHandler({ add, update });
    },
    sync: (name) => snapshotter.sync(name),
  };
}

/** The controller's own status updates must not trigger a retry before the backoff. */
function withoutOwnReports({ metadata, spec, status }: Content): string {
  const { resourceVersion: _, managedFields: __, annotations = {}, ...others } = metadata;
  const { [BEING_CREATED]: ___, ...foreign } = annotations;
  return JSON.stringify([others, foreign, spec, status?.snapshotHandle, status?.readyToUse === true]);
}

class Snapshotter {
  constructor(private readonly deps: DriverControllerDeps) {}

  get #contents() {
    return this.deps.client.resource(SNAPSHOT_CONTENT);
  }

  async sync(name: string): Promise<Requeue | undefined> {
    const content = this.deps.informers.resource(SNAPSHOT_CONTENT).lister.get({ name }) as Content | undefined;
    if (content?.spec.driver !== this.deps.driver.name) return undefined;
    if (content.metadata.deletionTimestamp !== undefined) return this.#delete(content);
    // Pre-provisioned contents have no finalizer yet: without it the snapshot in the storage system would leak.
    const { finalizers, annotations } = content.metadata;
    if (!finalizers?.includes(CONTENT_BOUND)) await addFinalizer(this.#contents, content.metadata, CONTENT_BOUND);
    if (content.status?.readyToUse === true) {
      if (annotations?.[BEING_CREATED] !== undefined) await this.#annotate(content, null);
      return undefined;
    }
    try {
      return await this.#create(content);
    } catch (error) {
      if (!isStatusReason(error, 'Conflict')) await this.#saveError(content, error);
      throw error;
    }
  }

  async #create(content: Content): Promise<Requeue | undefined> {
    const { snapshotHandle } = content.spec.source;
    const snapshot = snapshotHandle === undefined ? await this.#take(content) : await this.#find(content, snapshotHandle);
    const { seconds = 0, nanos = 0 } = snapshot.creationTime ?? {};
    const creationTime = seconds > 0 ? seconds * 1e9 + nanos : this.deps.clock.now() * 1e6;
    const status = {
      ...{ snapshotHandle: snapshot.snapshotId, readyToUse: snapshot.readyToUse, error: null },
      creationTime: content.status?.creationTime ?? creationTime,
      ...(snapshot.sizeBytes > 0 && { restoreSize: snapshot.sizeBytes }),
    };
    await this.#contents.patch(content.metadata, { status }, { subresource: 'status' });
    await this.#annotate(content, null);
    return snapshot.readyToUse ? undefined : { afterMs: NOT_READY_RETRY_MS };
  }

  async #take(content: Content): Promise<Snapshot> {
    const { driver, client } = this.deps;
    const { name } = content.metadata;
    const [chosen, secrets] = await Promise.all([this.#classOf(content), csiSecrets(secretOf(content), client)]).catch((error: unknown) => {
      throw new Error(`failed to get input parameters to create snapshot for content ${name}: ${quoted(messageOf(error))}`, {
        cause: error,
      });
    });
    const { extraCreateMetadata } = sidecarFlags(driver.name, this.deps.informers);
    const parameters = { ...snapshotParameters(chosen), ...(extraCreateMetadata && createMetadata(content)) };
    if (content.metadata.annotations?.[BEING_CREATED] === undefined) await this.#annotate(content, 'yes');
    const { volumeHandle: sourceVolumeId = '' } = content.spec.source;
    const { uid = '' } = content.spec.volumeSnapshotRef;
    try {
      const { snapshot } = await driver.call(CreateSnapshot, { sourceVolumeId, name: `snapshot-${uid}`, parameters, secrets });
      if (!snapshot?.snapshotId) throw new Error('the driver took a snapshot without an id');
      return snapshot;
    } catch (error) {
      if (error instanceof CsiError && !error.isUncertain) await this.#annotate(content, null);
      throw new Error(`failed to take snapshot of the volume ${sourceVolumeId}: ${quoted(messageOf(error))}`, { cause: error });
    }
  }

  async #classOf({ metadata, spec }: Content): Promise<VolumeSnapshotClass> {
    const { volumeSnapshotClassName: name } = spec;
    if (name === undefined) throw new Error(`failed to take snapshot ${metadata.name} without a snapshot class`);
    const chosen = this.deps.informers.resource(SNAPSHOT_CLASS).lister.get({ name }) as VolumeSnapshotClass | undefined;
    if (chosen === undefined) throw new Error(`volumesnapshotclass.snapshot.storage.k8s.io "${name}" not found`);
    return chosen;
  }

  /** A pre-existing snapshot: drivers that cannot list are trusted. */
  async #find(content: Content, snapshotId: string): Promise<Snapshot> {
    const { driver, client, capabilities } = this.deps;
    const { name } = content.metadata;
    const unlisted = { snapshotId, sizeBytes: 0, sourceVolumeId: '', readyToUse: true, groupSnapshotId: '' };
    if (!capabilities.has('LIST_SNAPSHOTS')) return unlisted;
    const chosen = content.spec.volumeSnapshotClassName === undefined ? undefined : await this.#classOf(content);
    const secret = chosen && snapshotSecret(chosen, 'snapshotter-list', { contentName: name });
    const secrets = await csiSecrets(secret, client);
    try {
      const { entries } = await driver.call(ListSnapshots, { snapshotId, secrets });
      const entry = entries.find(({ snapshot }) => snapshot?.snapshotId === snapshotId);
      if (entry?.snapshot === undefined) throw new Error(`can not find snapshot for snapshotID ${snapshotId}`);
      return entry.snapshot;
    } catch (error) {
      throw new Error(`failed to list snapshot for content ${name}: ${quoted(messageOf(error))}`, { cause: error });
    }
  }

  async #delete(content: Content): Promise<undefined> {
    const { metadata, spec, status } = content;
    if (!metadata.finalizers?.includes(CONTENT_BOUND) || !(await this.#isDeletable(content))) return;
    if (spec.deletionPolicy === 'Delete') await this.#deleteSnapshot(content, status?.snapshotHandle ?? spec.source.snapshotHandle);
    await removeFinalizer(this.#contents, metadata, CONTENT_BOUND);
  }

  /** The deletion of a content waits for its snapshot. */
  async #isDeletable({ metadata, spec }: Content): Promise<boolean> {
    const { uid, name = '', namespace } = spec.volumeSnapshotRef;
    if (!uid || metadata.annotations?.[BEING_DELETED] !== undefined) return true;
    const snapshot = await this.deps.client.resource(SNAPSHOT).get({ name, namespace }).catch(ignoreError('NotFound'));
    return snapshot?.metadata.uid !== uid;
  }

  async #deleteSnapshot(content: Content, handle: string | undefined): Promise<void> {
    const { driver, client, events } = this.deps;
    const fail = (message: string) => (error: unknown) => {
      events.warning(content, 'SnapshotDeleteError', message);
      throw error;
    };
    const isUncertain = handle === undefined && content.metadata.annotations?.[BEING_CREATED] !== undefined;
    const snapshotId = isUncertain ? (await this.#take(content).catch(fail('Failed to delete snapshot'))).snapshotId : handle;
    if (snapshotId === undefined) return;
    const secrets = await csiSecrets(secretOf(content), client).catch(fail('Failed to get snapshot credentials'));
    await driver.call(DeleteSnapshot, { snapshotId, secrets }).catch(fail('Failed to delete snapshot'));
    const status = { snapshotHandle: null, readyToUse: null, creationTime: null, restoreSize: null };
    await this.#contents
      .patch(content.metadata, { status }, { subresource: 'status' })
      .catch(ignoreError('NotFound'))
      .catch(fail('Failed to clear content status'));
  }

  async #annotate({ metadata }: Content, value: string | null): Promise<void> {
    await this.#contents
      .patch({ name: metadata.name }, { metadata: { annotations: { [BEING_CREATED]: value } } })
      .catch(ignoreError('NotFound'));
  }

  async #saveError(content: Content, error: unknown): Promise<void> {
    const isFirst = content.spec.source.volumeHandle !== undefined && content.status === undefined;
    const reason = isFirst ? 'SnapshotCreationFailed' : 'SnapshotContentCheckandUpdateFailed';
    const message = `${isFirst ? 'Failed to create snapshot' : 'Failed to check and update snapshot content'}: ${messageOf(error)}`;
    if (content.status?.error?.message === message) return;
    this.deps.events.warning(content, reason, message);
    const status = { readyToUse: false, error: { message, time: formatTime(this.deps.clock.now()) } };
    await this.#contents.patch(content.metadata, { status }, { subresource: 'status' });
  }
}

function secretOf({ metadata }: Content): core.SecretReference | undefined {
  const name = metadata.annotations?.[`${DELETION_SECRET}-name`];
  const namespace = metadata.annotations?.[`${DELETION_SECRET}-namespace`];
  return name && namespace ? { name, namespace } : undefined;
}
