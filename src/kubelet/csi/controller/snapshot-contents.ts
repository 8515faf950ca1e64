import type { core } from '#api';
import type { Requeue } from '#base';
import { formatTime } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { CreateSnapshot, DeleteSnapshot, ListSnapshots, type Snapshot } from '../messages.ts';
import { type DriverController, type DriverControllerDeps, ignoreError, leaseName } from './driver-controller.ts';
import { SNAPSHOT_CLASS, SNAPSHOT_CONTENT, type VolumeSnapshotClass, type VolumeSnapshotContent } from './snapshot-kinds.ts';
import { CONTENT_BOUND, SECRET } from './snapshotter.ts';

type Content = VolumeSnapshotContent;

/** A snapshot may be in progress, or its outcome unknown: the content must not be deleted before that is resolved. */
const BEING_CREATED = 'snapshot.storage.kubernetes.io/volumesnapshot-being-created';
const NOT_READY_RETRY_MS = 5_000;

/** Creates and deletes snapshots for VolumeSnapshotContents, like external-snapshotter. */
export function snapshotContentController(deps: DriverControllerDeps): DriverController {
  const { informers, driver } = deps;
  const contents = informers.resource(SNAPSHOT_CONTENT);
  informers.resource(SNAPSHOT_CLASS);
  const snapshotter = new Snapshotter(deps);
  return {
    name: 'snapshot-content',
    sidecarLease: leaseName(`external-snapshotter-leader-${driver.name}`),
    follow(enqueue) {
      const add = (object: object) => {
        const { metadata, spec } = object as Content;
        if (spec.driver === driver.name) enqueue(metadata.name);
      };
      contents.addHandler({ add, update: (_, content) => add(content) });
    },
    sync: (name) => snapshotter.sync(name),
  };
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
    await this.#protect(content);
    if (content.status?.readyToUse === true) return undefined;
    try {
      return await this.#create(content);
    } catch (error) {
      await this.#saveError(content, error);
      throw error;
    }
  }

  /** Contents that somebody else made have no finalizer yet: without it the snapshot in the storage system would outlive them. */
  async #protect({ metadata }: Content): Promise<void> {
    const { finalizers = [], resourceVersion } = metadata;
    if (finalizers.includes(CONTENT_BOUND)) return;
    await this.#contents.patch(metadata, { metadata: { finalizers: [...finalizers, CONTENT_BOUND], resourceVersion } });
  }

  async #create(content: Content): Promise<Requeue | undefined> {
    const { snapshotHandle } = content.spec.source;
    const snapshot = snapshotHandle === undefined ? await this.#take(content) : await this.#find(content, snapshotHandle);
    const { seconds = 0, nanos = 0 } = snapshot.creationTime ?? {};
    const status = {
      ...{ snapshotHandle: snapshot.snapshotId, readyToUse: snapshot.readyToUse, restoreSize: snapshot.sizeBytes, error: null },
      ...(seconds > 0 && { creationTime: seconds * 1e9 + nanos }),
    };
    await this.#contents.patch(content.metadata, { status }, { subresource: 'status' });
    await this.#annotate(content, null);
    return snapshot.readyToUse ? undefined : { afterMs: NOT_READY_RETRY_MS };
  }

  async #take(content: Content): Promise<Snapshot> {
    const { driver, client } = this.deps;
    await this.#annotate(content, 'yes');
    const { uid = '' } = content.spec.volumeSnapshotRef;
    const { snapshot } = await driver.call(CreateSnapshot, {
      ...{ sourceVolumeId: content.spec.source.volumeHandle ?? '', name: `snapshot-${uid}`, parameters: this.#parametersOf(content) },
      secrets: await csiSecrets(secretOf(content), client),
    });
    if (!snapshot?.snapshotId) throw new Error('the driver took a snapshot without an id');
    return snapshot;
  }

  /** A pre-existing snapshot: drivers that cannot list are trusted. */
  async #find(content: Content, snapshotId: string): Promise<Snapshot> {
    const { driver, client, capabilities } = this.deps;
    const unknown = { snapshotId, sizeBytes: 0, sourceVolumeId: '', readyToUse: true, groupSnapshotId: '' };
    if (!capabilities.has('LIST_SNAPSHOTS')) return unknown;
    const { entries } = await driver.call(ListSnapshots, { snapshotId, secrets: await csiSecrets(secretOf(content), client) });
    const entry = entries.find(({ snapshot }) => snapshot?.snapshotId === snapshotId);
    if (entry?.snapshot === undefined) throw new Error(`can not find snapshot for snapshotID ${snapshotId}`);
    return entry.snapshot;
  }

  async #delete(content: Content): Promise<undefined> {
    const { metadata, spec, status } = content;
    const { finalizers = [], resourceVersion } = metadata;
    if (!finalizers.includes(CONTENT_BOUND)) return;
    if (spec.deletionPolicy === 'Delete') await this.#deleteSnapshot(content, status?.snapshotHandle ?? spec.source.snapshotHandle);
    const remaining = finalizers.filter((name) => name !== CONTENT_BOUND);
    await this.#contents.patch(metadata, { metadata: { finalizers: remaining, resourceVersion } }).catch(ignoreError('NotFound'));
  }

  async #deleteSnapshot(content: Content, handle: string | undefined): Promise<void> {
    const { driver, client, events } = this.deps;
    const isUncertain = handle === undefined && content.metadata.annotations?.[BEING_CREATED] !== undefined;
    try {
      const snapshotId = isUncertain ? (await this.#take(content)).snapshotId : handle;
      if (snapshotId === undefined) return;
      await driver.call(DeleteSnapshot, { snapshotId, secrets: await csiSecrets(secretOf(content), client) });
    } catch (error) {
      events.warning(content, 'SnapshotDeleteError', 'Failed to delete snapshot');
      throw error;
    }
  }

  #parametersOf({ spec }: Content): Readonly<Record<string, string>> {
    const name = spec.volumeSnapshotClassName ?? '';
    const chosen = this.deps.informers.resource(SNAPSHOT_CLASS).lister.get({ name }) as VolumeSnapshotClass | undefined;
    return Object.fromEntries(Object.entries(chosen?.parameters ?? {}).filter(([key]) => !key.startsWith('csi.storage.k8s.io/')));
  }

  async #annotate({ metadata }: Content, value: string | null): Promise<void> {
    if ((metadata.annotations?.[BEING_CREATED] ?? null) === value) return;
    await this.#contents.patch(metadata, { metadata: { annotations: { [BEING_CREATED]: value } } });
  }

  async #saveError(content: Content, error: unknown): Promise<void> {
    const message = `Failed to check and update snapshot content: failed to take snapshot of the volume ${content.spec.source.volumeHandle ?? ''}: "${messageOf(error)}"`;
    this.deps.events.warning(content, 'SnapshotCreationFailed', message);
    if (error instanceof CsiError && !error.isUncertain) await this.#annotate(content, null);
    if (content.status?.error?.message === message) return;
    const status = { readyToUse: false, error: { message, time: formatTime(this.deps.clock.now()) } };
    await this.#contents.patch(content.metadata, { status }, { subresource: 'status' });
  }
}

function secretOf({ metadata }: Content): core.SecretReference | undefined {
  const name = metadata.annotations?.[`${SECRET}-name`];
  const namespace = metadata.annotations?.[`${SECRET}-namespace`];
  return name && namespace ? { name, namespace } : undefined;
}
