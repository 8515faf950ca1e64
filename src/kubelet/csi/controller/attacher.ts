import { core, storage } from '#api';
import { formatTime, isStatusReason } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { ControllerPublishVolume, ControllerUnpublishVolume } from '../messages.ts';
import { volumeCapability } from '../volume-capability.ts';
import { type DriverController, type DriverControllerDeps, ignoreError, leaseName } from './driver-controller.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';

type Attachment = storage.VolumeAttachment;
type Volume = core.PersistentVolume;

/** On an attachment: detaching needs the id when the node and its CSINode are gone. */
const NODE_ID = 'csi.alpha.kubernetes.io/node-id';
/** Set by the controller that created the attachment: it outlives the PersistentVolume. */
const HANDLE = 'sampan.dev/volume-handle';
const VOLUME = 'volume/';

/** Attaches and detaches volumes for VolumeAttachments, like external-attacher. The PersistentVolume is kept while it may be attached. */
export function attacherController(deps: DriverControllerDeps): DriverController {
  const { informers, driver } = deps;
  const attachments = informers.of(storage.VolumeAttachment);
  const volumes = informers.of(core.PersistentVolume);
  informers.of(storage.CSINode);
  const attacher = new Attacher(deps);
  return {
    name: 'attach',
    sidecarLease: leaseName(`external-attacher-leader-${driver.name}`),
    follow(enqueue) {
      const add = ({ metadata, spec }: Attachment) => {
        if (spec.attacher === driver.name) enqueue(metadata.name);
      };
      const update = (before: Attachment, after: Attachment) => {
        if (!isErrorReport(before, after)) add(after);
      };
      const remove = ({ spec }: Attachment) => enqueue(VOLUME + (spec.source?.persistentVolumeName ?? ''));
      attachments.addHandler({ add, update, delete: remove });
      const volumeChanged = ({ metadata }: Volume) => {
        if (metadata.deletionTimestamp !== undefined) enqueue(VOLUME + metadata.name);
      };
      volumes.addHandler({ add: volumeChanged, update: (_, volume) => volumeChanged(volume) });
    },
    sync: (key) => (key.startsWith(VOLUME) ? attacher.releaseVolume(key.slice(VOLUME.length)) : attacher.sync(key)),
  };
}

/** Recording an error in the status must not trigger a retry before the backoff. */
function isErrorReport(before: Attachment, after: Attachment): boolean {
  if (before.metadata.resourceVersion === after.metadata.resourceVersion) return false;
  if (after.status?.attachError === undefined && after.status?.detachError === undefined) return false;
  const rest = ({ metadata, spec, status }: Attachment) => {
    const { resourceVersion: _, managedFields: __, ...others } = metadata;
    return JSON.stringify([others, spec, status?.attached, status?.attachmentMetadata]);
  };
  return rest(before) === rest(after);
}

class Attacher {
  readonly #finalizer: string;

  constructor(private readonly deps: DriverControllerDeps) {
    this.#finalizer = `external-attacher/${sanitized(deps.driver.name)}`;
  }

  async sync(name: string): Promise<undefined> {
    const attachment = this.deps.informers.of(storage.VolumeAttachment).lister.get({ name });
    if (attachment?.spec.attacher !== this.deps.driver.name) return;
    if (attachment.metadata.deletionTimestamp !== undefined) await this.#detach(attachment);
    else if (attachment.status?.attached !== true) await this.#attach(attachment);
  }

  /** The finalizer of a terminating volume is removed when no attachment refers to it. */
  async releaseVolume(name: string): Promise<undefined> {
    const { informers, client } = this.deps;
    const { metadata } = informers.of(core.PersistentVolume).lister.get({ name }) ?? {};
    if (metadata?.deletionTimestamp === undefined || !metadata.finalizers?.includes(this.#finalizer)) return;
    const attachments = informers.of(storage.VolumeAttachment).lister.list();
    if (attachments.some(({ spec }) => spec.source?.persistentVolumeName === name)) return;
    await removeFinalizer(client.of(core.PersistentVolume), { name }, this.#finalizer);
  }

  async #attach(attachment: Attachment): Promise<void> {
    const { name } = attachment.metadata;
    try {
      const attachmentMetadata = this.#canPublish ? await this.#publish(attachment) : undefined;
      await this.#attachments.patch(
        { name },
        { status: { attached: true, attachmentMetadata, attachError: null } },
        { subresource: 'status' },
      );
    } catch (error) {
      // The volume or the attachment was changed concurrently: the retry reads it again.
      if (!isStatusReason(error, 'Conflict')) await this.#saveError(attachment, 'attachError', error);
      throw error;
    }
  }

  /** All checks come before the finalizer is added: it would keep an attachment that was never attempted. */
  async #publish(attachment: Attachment): Promise<Readonly<Record<string, string>>> {
    const { driver, client, capabilities } = this.deps;
    const { csi, accessModes = [], mountOptions = [], volumeMode } = await this.#protectedSpec(attachment);
    const knowsSingleNodeModes = capabilities.has('SINGLE_NODE_MULTI_WRITER');
    const secrets = await this.#secrets(csi);
    const nodeId = this.#registeredNodeId(attachment.spec.nodeName);
    if (nodeId === undefined) throw this.#missingDriver(attachment);
    const { name, annotations } = attachment.metadata;
    if (annotations?.[NODE_ID] !== nodeId) await this.#attachments.patch({ name }, { metadata: { annotations: { [NODE_ID]: nodeId } } });
    await addFinalizer(client.of(storage.VolumeAttachment), { name }, this.#finalizer);
    const { publishContext } = await driver.call(ControllerPublishVolume, {
      ...{ volumeId: csi.volumeHandle, nodeId, secrets, volumeContext: csi.volumeAttributes ?? {} },
      readonly: capabilities.has('PUBLISH_READONLY') && (csi.readOnly ?? false),
      volumeCapability: volumeCapability({
        ...{ accessModes, mountOptions, knowsSingleNodeModes, isBlock: volumeMode === 'Block', fsType: csi.fsType ?? '' },
      }),
    });
    return publishContext;
  }

  /** The volume's spec. A volume with a PersistentVolume has the finalizer now. */
  async #protectedSpec({ spec: { source } }: Attachment) {
    const inline = source?.inlineVolumeSpec;
    const volume = inline === undefined ? this.#volumeOf(source) : undefined;
    if (volume?.metadata.deletionTimestamp !== undefined)
      throw new Error(`PersistentVolume "${volume.metadata.name}" is marked for deletion`);
    if (volume !== undefined && !volume.metadata.finalizers?.includes(this.#finalizer))
      await addFinalizer(this.deps.client.of(core.PersistentVolume), volume.metadata, this.#finalizer);
    const spec = inline ?? volume?.spec;
    const csi = spec?.csi;
    if (spec === undefined || csi === undefined) throw missingVolume(source);
    return { ...spec, csi };
  }

  async #detach(attachment: Attachment): Promise<void> {
    const { metadata, spec } = attachment;
    if (!metadata.finalizers?.includes(this.#finalizer)) return;
    try {
      const csi = (spec.source?.inlineVolumeSpec ?? this.#volumeOf(spec.source)?.spec)?.csi;
      const volumeId = csi?.volumeHandle ?? metadata.annotations?.[HANDLE];
      if (volumeId === undefined) throw missingVolume(spec.source);
      const nodeId = this.#registeredNodeId(spec.nodeName) ?? metadata.annotations?.[NODE_ID];
      if (nodeId === undefined) throw this.#missingDriver(attachment);
      await this.deps.driver.call(ControllerUnpublishVolume, { volumeId, nodeId, secrets: await this.#secrets(csi) });
    } catch (error) {
      await this.#saveError(attachment, 'detachError', error);
      throw error;
    }
    await this.#markDetached(metadata.name);
  }

  /** The finalizer is removed first: without it the attachment counts as detached, whatever its status says. */
  async #markDetached(name: string): Promise<void> {
    await removeFinalizer(this.deps.client.of(storage.VolumeAttachment), { name }, this.#finalizer);
    const status = { attached: false, attachmentMetadata: null, detachError: null };
    await this.#attachments.patch({ name }, { status }, { subresource: 'status' }).catch(ignoreError('NotFound'));
  }

  get #attachments() {
    return this.deps.client.of(storage.VolumeAttachment);
  }

  get #canPublish(): boolean {
    return this.deps.capabilities.has('PUBLISH_UNPUBLISH_VOLUME');
  }

  async #secrets(csi: core.CSIPersistentVolumeSource | undefined): Promise<Readonly<Record<string, string>>> {
    const reference = csi?.controllerPublishSecretRef;
    try {
      return await csiSecrets(reference, this.deps.client);
    } catch (error) {
      throw new Error(`failed to load secret "${reference?.namespace}/${reference?.name}": ${messageOf(error)}`, { cause: error });
    }
  }

  async #saveError(
    { metadata: { name }, status: before }: Attachment,
    member: 'attachError' | 'detachError',
    error: unknown,
  ): Promise<void> {
    const message = messageOf(error);
    if (before?.[member]?.message === message) return;
    const errorCode = member === 'attachError' && error instanceof CsiError ? error.status : undefined;
    const status = { [member]: { message, time: formatTime(this.deps.clock.now()), ...(errorCode !== undefined && { errorCode }) } };
    await this.#attachments.patch({ name }, { status }, { subresource: 'status' }).catch(ignoreError('NotFound'));
  }

  #volumeOf(source: Attachment['spec']['source']): Volume | undefined {
    return this.deps.informers.of(core.PersistentVolume).lister.get({ name: source?.persistentVolumeName ?? '' });
  }

  #registeredNodeId(nodeName: string): string | undefined {
    const { driver, informers } = this.deps;
    const drivers = informers.of(storage.CSINode).lister.get({ name: nodeName })?.spec?.drivers ?? [];
    return drivers.find(({ name }) => name === driver.name)?.nodeID;
  }

  #missingDriver({ spec: { nodeName } }: Attachment): Error {
    const exists = this.deps.informers.of(storage.CSINode).lister.get({ name: nodeName }) !== undefined;
    const text = exists
      ? `CSINode ${nodeName} does not contain driver ${this.deps.driver.name}`
      : `csinode.storage.k8s.io "${nodeName}" not found`;
    return new Error(text);
  }
}

function missingVolume(source: Attachment['spec']['source']): Error {
  return new Error(`persistentvolume "${source?.persistentVolumeName ?? ''}" not found`);
}

function sanitized(driverName: string): string {
  const name = driverName.replace(/[^a-zA-Z0-9-]/g, '-');
  return name.endsWith('-') ? `${name}X` : name;
}
