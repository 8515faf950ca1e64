import { core, storage } from '#api';
import { formatTime } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { ControllerPublishVolume, ControllerUnpublishVolume } from '../messages.ts';
import { isBlockVolume, volumeCapability } from '../volume-capability.ts';
import { type DriverController, type DriverControllerDeps, ignoreError, leaseName } from './driver-controller.ts';

type Attachment = storage.VolumeAttachment;

const NODE_IDS = 'csi.volume.kubernetes.io/nodeid';
/** Set by the controller that created the attachment: it outlives the PersistentVolume. */
const HANDLE = 'sampan.dev/volume-handle';

/** Attaches and detaches volumes for VolumeAttachments, like external-attacher. */
export function attacherController(deps: DriverControllerDeps): DriverController {
  const { informers, driver } = deps;
  const attachments = informers.of(storage.VolumeAttachment);
  informers.of(storage.CSINode);
  informers.of(core.Node);
  informers.of(core.PersistentVolume);
  const attacher = new Attacher(deps);
  return {
    name: 'attach',
    sidecarLease: leaseName(`external-attacher-leader-${driver.name}`),
    follow(enqueue) {
      const add = ({ metadata, spec }: Attachment) => spec.attacher === driver.name && enqueue(metadata.name);
      attachments.addHandler({ add, update: (_, attachment) => add(attachment) });
    },
    sync: (name) => attacher.sync(name),
  };
}

class Attacher {
  readonly #finalizer: string;

  constructor(private readonly deps: DriverControllerDeps) {
    this.#finalizer = `external-attacher/${deps.driver.name.replaceAll('.', '-')}`;
  }

  async sync(name: string): Promise<undefined> {
    const attachment = this.deps.informers.of(storage.VolumeAttachment).lister.get({ name });
    if (attachment?.spec.attacher !== this.deps.driver.name) return;
    if (attachment.metadata.deletionTimestamp !== undefined) await this.#detach(attachment);
    else if (attachment.status?.attached !== true) await this.#attach(attachment);
  }

  async #attach(attachment: Attachment): Promise<void> {
    const { name, finalizers = [] } = attachment.metadata;
    const saveStatus = (status: object) => this.#attachments.patch({ name }, { status }, { subresource: 'status' });
    if (!this.#canPublish) {
      await saveStatus({ attached: true });
      return;
    }
    // Added before the driver is called: from now on deletion must wait for the detach.
    if (!finalizers.includes(this.#finalizer))
      await this.#attachments.patch({ name }, { metadata: { finalizers: [...finalizers, this.#finalizer] } });
    try {
      const { publishContext } = await this.#publish(attachment);
      await saveStatus({ attached: true, attachmentMetadata: publishContext, attachError: null });
    } catch (error) {
      await this.#saveError(attachment, 'attachError', error);
      throw error;
    }
  }

  async #publish(attachment: Attachment) {
    const { driver, client, capabilities } = this.deps;
    const volume = this.#volumeOf(attachment);
    if (volume === undefined) throw new Error(`persistentvolume "${attachment.spec.source?.persistentVolumeName}" not found`);
    const { csi, accessModes = [], mountOptions = [] } = volume.spec ?? {};
    const knowsSingleNodeModes = capabilities.has('SINGLE_NODE_MULTI_WRITER');
    return driver.call(ControllerPublishVolume, {
      ...{ volumeId: csi?.volumeHandle ?? '', nodeId: this.#nodeId(attachment.spec.nodeName), readonly: csi?.readOnly ?? false },
      volumeCapability: volumeCapability({
        ...{ accessModes, mountOptions, knowsSingleNodeModes, isBlock: isBlockVolume(volume), fsType: csi?.fsType ?? '' },
      }),
      secrets: await csiSecrets(csi?.controllerPublishSecretRef, client),
      volumeContext: csi?.volumeAttributes ?? {},
    });
  }

  async #detach(attachment: Attachment): Promise<void> {
    const { name, finalizers = [], resourceVersion, annotations } = attachment.metadata;
    if (!finalizers.includes(this.#finalizer)) return;
    try {
      const { csi } = this.#volumeOf(attachment)?.spec ?? {};
      const volumeId = csi?.volumeHandle ?? annotations?.[HANDLE];
      if (volumeId === undefined) throw new Error(`persistentvolume "${attachment.spec.source?.persistentVolumeName}" not found`);
      const secrets = await csiSecrets(csi?.controllerPublishSecretRef, this.deps.client);
      await this.deps.driver.call(ControllerUnpublishVolume, { volumeId, nodeId: this.#nodeId(attachment.spec.nodeName), secrets });
    } catch (error) {
      await this.#saveError(attachment, 'detachError', error);
      throw error;
    }
    const remaining = finalizers.filter((entry) => entry !== this.#finalizer);
    await this.#attachments.patch({ name }, { metadata: { finalizers: remaining, resourceVersion } }).catch(ignoreError('NotFound'));
  }

  get #attachments() {
    return this.deps.client.of(storage.VolumeAttachment);
  }

  get #canPublish(): boolean {
    return this.deps.capabilities.has('PUBLISH_UNPUBLISH_VOLUME');
  }

  /** An unchanged error is not written again: each write would trigger another sync. */
  async #saveError(
    { metadata: { name }, status: before }: Attachment,
    member: 'attachError' | 'detachError',
    error: unknown,
  ): Promise<void> {
    if (before?.[member]?.message === messageOf(error)) return;
    const status = { [member]: { message: messageOf(error), time: formatTime(this.deps.clock.now()) } };
    await this.#attachments.patch({ name }, { status }, { subresource: 'status' }).catch(ignoreError('NotFound'));
  }

  #volumeOf({ spec }: Attachment): core.PersistentVolume | undefined {
    return this.deps.informers.of(core.PersistentVolume).lister.get({ name: spec.source?.persistentVolumeName ?? '' });
  }

  /** Also stored in the node's annotation, for nodes whose CSINode is already deleted. */
  #nodeId(nodeName: string): string {
    const { driver, informers } = this.deps;
    const drivers = informers.of(storage.CSINode).lister.get({ name: nodeName })?.spec?.drivers ?? [];
    const entry = drivers.find(({ name }) => name === driver.name);
    if (entry !== undefined) return entry.nodeID;
    const text = informers.of(core.Node).lister.get({ name: nodeName })?.metadata.annotations?.[NODE_IDS];
    const id = new Map(Object.entries(parseIds(text))).get(driver.name);
    if (typeof id !== 'string') throw new Error(`CSINode ${nodeName} does not contain driver ${driver.name}`);
    return id;
  }
}

function parseIds(text: string | undefined): object {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
