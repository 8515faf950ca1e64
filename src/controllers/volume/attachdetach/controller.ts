import { core, storage } from '#api';
import { repeat } from '#base';
import { type EventRecorder, type Identified, keyOf, type Lister, type SharedInformer } from '#client';
import { deepEqual, isStatusReason } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../../runtime/controller.ts';
import { isGone, KeyedController } from '../../runtime/keyed-controller.ts';
import { podsByClaim } from '../../runtime/pod-claims.ts';
import { AttachReservations } from './attach-reservations.ts';
import { attachedDisks, type InTreeDisk, type NodeDisksPlan, reconcileDisks } from './in-tree-disks.ts';
import { type AttachAction, type AttachableVolume, attachedVolumes, reconcileAttachments } from './reconcile.ts';

/** Attaches volumes to the nodes of their pods: those of CSI drivers by VolumeAttachments, iSCSI and Fibre Channel disks by the node's status. */
export const attachDetachController: Controller = {
  name: 'persistentvolume-attach-detach-controller',
  aliases: ['attachdetach'],
  enabledByDefault: true,
  start: (context) => new AttachDetachController(context),
};

const RESYNC_MS = 60_000;
const MULTI_ATTACH_RETRY_MS = 5_000;
const BY_NODE = 'attachment-node';
const BY_VOLUME = 'attachment-volume';
const PODS_BY_NODE = 'attach-node';
const NODES_BY_DISK = 'attached-disk';

class AttachDetachController implements RunningController {
  readonly #queue: KeyedController;
  readonly #events: EventRecorder;
  readonly #pods: Lister<core.Pod>;
  readonly #claims: Lister<core.PersistentVolumeClaim>;
  readonly #volumes: Lister<core.PersistentVolume>;
  readonly #nodes: Lister<core.Node>;
  readonly #drivers: Lister<storage.CSIDriver>;
  readonly #attachments: Lister<storage.VolumeAttachment>;
  readonly #podsOfClaim: (claimKey: string) => readonly core.Pod[];
  /** Since when each attachment is unneeded, by name. */
  readonly #unneeded = new Map<string, number>();
  /** Since when each disk that a node's status lists is unneeded, by node and unique name. */
  readonly #unneededDisks = new Map<string, ReadonlyMap<string, number>>();
  /** By name of the PersistentVolume, or unique name of the disk. */
  readonly #reservations = new AttachReservations();
  /** Attachments whose success or failure was reported. */
  readonly #reported = new Map<string, string>();

  constructor(private readonly context: ControllerContext) {
    const { informers } = context;
    this.#queue = new KeyedController(context, {
      name: 'attachdetach',
      isExpected: isGone,
      concurrency: 4,
      objects: informers.of(core.Node).lister,
      sync: (node) => this.#sync(node),
    });
    this.#events = context.recorder('attachdetach-controller');
    const pods = informers
      .of(core.Pod)
      .addIndex(PODS_BY_NODE, ({ spec }) => (spec?.nodeName && mayNeedAttach(spec) ? [spec.nodeName] : []));
    const attachments = informers
      .of(storage.VolumeAttachment)
      .addIndex(BY_NODE, ({ spec }) => [spec.nodeName])
      .addIndex(BY_VOLUME, ({ spec }) => [spec.source?.persistentVolumeName ?? '']);
    this.#pods = pods.lister;
    this.#attachments = attachments.lister;
    const claims = informers.of(core.PersistentVolumeClaim);
    const volumes = informers.of(core.PersistentVolume);
    this.#claims = claims.lister;
    this.#volumes = volumes.lister;
    this.#podsOfClaim = podsByClaim(pods);
    this.#drivers = informers.of(storage.CSIDriver).lister;
    const nodes = informers.of(core.Node).addIndex(NODES_BY_DISK, attachedDisks);
    this.#nodes = nodes.lister;
    follow(pods, (pod) => this.#enqueuePod(pod));
    follow(attachments, ({ spec }) => this.#queue.queue.add(spec.nodeName));
    // Each of the three may reach the cache last.
    follow(claims, (claim) => this.#enqueueClaim(keyOf(claim)));
    follow(volumes, (volume) => this.#enqueueVolume(volume));
    const ofNode = ({ metadata }: core.Node) => this.#queue.queue.add(metadata.name);
    nodes.addHandler({
      update: (old, node) => {
        if (!deepEqual(watchedParts(old), watchedParts(node))) ofNode(node);
      },
      delete: ofNode,
    });
  }

  async run(): Promise<void> {
    const { clock, signal, logger } = this.context;
    const onError = (error: unknown) => logger.error('resyncing all volume attachments failed', { error });
    await Promise.all([this.#queue.run(), repeat({ clock, signal, intervalMs: RESYNC_MS, onError }, () => this.#resync())]);
  }

  /** A detachment may become due by time alone. */
  #resync(): void {
    for (const node of this.#nodes.list()) if (attachedDisks(node).length > 0) this.#queue.queue.add(node.metadata.name);
    for (const { spec } of this.#attachments.list()) if (spec?.nodeName) this.#queue.queue.add(spec.nodeName);
    for (const volume of this.#volumes.list()) this.#enqueueVolume(volume);
  }

  #enqueueVolume({ spec }: core.PersistentVolume): void {
    const { name, namespace } = spec?.claimRef ?? {};
    const isAttachable = spec?.csi !== undefined || spec?.iscsi !== undefined || spec?.fc !== undefined;
    if (isAttachable && name !== undefined) this.#enqueueClaim(`${namespace}/${name}`);
  }

  #enqueueClaim(key: string): void {
    for (const pod of this.#podsOfClaim(key)) this.#enqueuePod(pod);
  }

  /** Pods without attachable volumes, on nodes without attachments, need no sync. */
  #enqueuePod(pod: core.Pod): void {
    const { nodeName } = pod.spec ?? {};
    if (!nodeName || !mayNeedAttach(pod.spec)) return;
    const hasAttached = this.#attachments.byIndex(BY_NODE, nodeName).length > 0 || this.#disksOf(nodeName).length > 0;
    if (hasAttached || this.#attachableVolumes(pod).length > 0 || this.#inTreeDisks(pod).length > 0) this.#queue.queue.add(nodeName);
  }

  #disksOf(nodeName: string): readonly string[] {
    return attachedDisks(this.#nodes.get({ name: nodeName }));
  }

  async #sync(nodeName: string): Promise<void> {
    const attachments = this.#attachments.byIndex(BY_NODE, nodeName);
    const desired = this.#desired(nodeName);
    this.#rememberUnneeded(attachments, desired);
    const state = {
      ...{ nodeName, node: this.#nodes.get({ name: nodeName }), desired, attachments, nowMs: this.context.clock.now() },
      ...{ otherNodes: this.#otherNodesOf(nodeName, desired), unneededSinceMs: this.#unneeded, volumeNamed: this.#volumeNamed },
    };
    const actions = reconcileAttachments(state);
    const disks = this.#planDisks(nodeName);
    const cached = new Set([...attachments.map(volumeOf), ...this.#disksOf(nodeName)]);
    await this.#reservations.release(nodeName, { cached, desired: this.#reserve(nodeName, actions, disks) });
    this.#report(nodeName, attachments);
    // A volume leaves the node's status before it is detached, so that no kubelet relies on it.
    const leaving = new Set(actions.flatMap((action) => (action.type === 'detach' ? [action.name] : [])));
    const staying = attachments.filter(({ metadata }) => !leaving.has(metadata.name));
    await this.#updateNode(nodeName, staying, disks.attached);
    this.#reportDisks(nodeName, disks);
    for (const action of actions) await this.#perform(nodeName, action);
  }

  #planDisks(nodeName: string): NodeDisksPlan {
    const node = this.#nodes.get({ name: nodeName });
    const pods = this.#pods.byIndex(PODS_BY_NODE, nodeName).filter((pod) => !hasEnded(pod));
    const desired = new Map(pods.flatMap((pod) => this.#inTreeDisks(pod)).map((disk) => [disk.uniqueName, disk]));
    const nowMs = this.context.clock.now();
    const before = this.#unneededDisks.get(nodeName);
    const unneeded = attachedDisks(node).filter((name) => !desired.has(name));
    const unneededSinceMs = new Map(unneeded.map((name) => [name, before?.get(name) ?? nowMs]));
    if (unneeded.length === 0) this.#unneededDisks.delete(nodeName);
    else this.#unneededDisks.set(nodeName, unneededSinceMs);
    const otherNodes = new Map([...desired.keys()].map((name) => [name, this.#otherNodesWithDisk(nodeName, name)]));
    return reconcileDisks({ node, desired, otherNodes: otherNodes, unneededSinceMs, nowMs });
  }

  #otherNodesWithDisk(nodeName: string, disk: string): readonly string[] {
    const nodes = this.#nodes.byIndex(NODES_BY_DISK, disk).map(({ metadata }) => metadata.name);
    return [...new Set([...nodes, this.#reservations.nodeOf(disk) ?? nodeName])].filter((node) => node !== nodeName);
  }

  /** The iSCSI and Fibre Channel disks of a pod. */
  #inTreeDisks(pod: core.Pod): readonly InTreeDisk[] {
    return (pod.spec?.volumes ?? []).flatMap((volume) => {
      const persistentVolume = this.#boundVolume(pod, core.volumeClaimName(pod, volume));
      const uniqueName = core.inTreeAttachedName(persistentVolume?.spec ?? volume);
      if (uniqueName === undefined) return [];
      return [{ uniqueName, specName: persistentVolume?.metadata.name ?? volume.name, persistentVolume }];
    });
  }

  #boundVolume(pod: core.Pod, claimName: string | undefined): core.PersistentVolume | undefined {
    const claim = claimName === undefined ? undefined : this.#claims.get({ name: claimName, namespace: pod.metadata.namespace });
    const volume = claim?.spec?.volumeName ? this.#volumes.get({ name: claim.spec.volumeName }) : undefined;
    return volume?.spec?.claimRef?.uid === claim?.metadata.uid ? volume : undefined;
  }

  #desired(nodeName: string): ReadonlyMap<string, AttachableVolume> {
    const desired = new Map<string, AttachableVolume>();
    for (const pod of this.#pods.byIndex(PODS_BY_NODE, nodeName)) {
      if (hasEnded(pod)) continue;
      for (const attachable of this.#attachableVolumes(pod)) desired.set(attachable.volume.metadata.name, attachable);
    }
    return desired;
  }

  #attachableVolumes(pod: core.Pod): readonly AttachableVolume[] {
    return core.volumeClaimNames(pod).flatMap((claimName) => {
      const volume = this.#boundVolume(pod, claimName);
      const csi = volume?.spec?.csi;
      if (volume === undefined || csi === undefined || !this.#mustAttach(csi.driver)) return [];
      return [{ volume, driver: csi.driver, handle: csi.volumeHandle }];
    });
  }

  readonly #volumeNamed = (name: string) => this.#volumes.get({ name });

  #mustAttach(driver: string): boolean {
    return this.#drivers.get({ name: driver })?.spec.attachRequired !== false;
  }

  #otherNodesOf(nodeName: string, desired: ReadonlyMap<string, AttachableVolume>): ReadonlyMap<string, readonly string[]> {
    const otherNodes = new Map<string, readonly string[]>();
    for (const name of desired.keys()) {
      const nodes = [
        ...this.#attachments.byIndex(BY_VOLUME, name).map(({ spec }) => spec.nodeName),
        this.#reservations.nodeOf(name) ?? nodeName,
      ];
      otherNodes.set(
        name,
        [...new Set(nodes)].filter((node) => node !== nodeName),
      );
    }
    return otherNodes;
  }

  /** The volumes that the node gets now. */
  #reserve(nodeName: string, actions: readonly AttachAction[], { added }: NodeDisksPlan): ReadonlySet<string> {
    const desired = new Set<string>();
    const reserve = (volume: string, isAttached: () => Promise<boolean>) => {
      desired.add(volume);
      this.#reservations.reserve(volume, { nodeName, isAttached });
    };
    const { client } = this.context;
    for (const action of actions) {
      if (action.type !== 'attach') continue;
      const { name } = action.attachment.metadata;
      reserve(volumeOf(action.attachment), async () => (await ifPresent(client.of(storage.VolumeAttachment).get({ name }))) !== undefined);
    }
    for (const { uniqueName } of added)
      reserve(uniqueName, async () => attachedDisks(await ifPresent(client.of(core.Node).get({ name: nodeName }))).includes(uniqueName));
    return desired;
  }

  #rememberUnneeded(attachments: readonly storage.VolumeAttachment[], desired: ReadonlyMap<string, AttachableVolume>): void {
    for (const { metadata, spec } of attachments) {
      if (desired.has(spec.source?.persistentVolumeName ?? '')) this.#unneeded.delete(metadata.name);
      else if (!this.#unneeded.has(metadata.name)) this.#unneeded.set(metadata.name, this.context.clock.now());
    }
  }

  #report(nodeName: string, attachments: readonly storage.VolumeAttachment[]): void {
    for (const { metadata, spec, status } of attachments) {
      const volume = spec.source?.persistentVolumeName ?? '';
      const message = status?.attachError?.message;
      const outcome = status?.attached === true ? 'attached' : (message ?? '');
      if (outcome === '' || this.#reported.get(metadata.name) === outcome) continue;
      this.#reported.set(metadata.name, outcome);
      for (const pod of this.#podsUsing(nodeName, volume)) {
        if (outcome === 'attached') this.#recordAttached(pod, volume);
        else this.#events.warning(pod, 'FailedAttachVolume', `AttachVolume.Attach failed for volume "${volume}" : ${outcome}`);
      }
    }
  }

  #recordAttached(pod: core.Pod, volume: string): void {
    this.#events.normal(pod, 'SuccessfulAttachVolume', `AttachVolume.Attach succeeded for volume "${volume}" `);
  }

  #reportDisks(nodeName: string, { added, refused, forced }: NodeDisksPlan): void {
    const pods = this.#pods.byIndex(PODS_BY_NODE, nodeName);
    for (const { uniqueName, specName } of added)
      for (const pod of pods.filter((user) => this.#inTreeDisks(user).some((disk) => disk.uniqueName === uniqueName)))
        this.#recordAttached(pod, specName);
    for (const name of forced) this.context.logger.warn('detaching a volume that its node may still use', { node: nodeName, volume: name });
    for (const { disk, nodes } of refused) this.#recordMultiAttach(nodeName, disk.specName, nodes);
    if (refused.length > 0) this.#queue.queue.addAfter(nodeName, MULTI_ATTACH_RETRY_MS);
  }

  #podsUsing(nodeName: string, volumeName: string): readonly core.Pod[] {
    return this.#pods
      .byIndex(PODS_BY_NODE, nodeName)
      .filter((pod) =>
        core
          .volumeClaimNames(pod)
          .some((name) => this.#claims.get({ name, namespace: pod.metadata.namespace })?.spec?.volumeName === volumeName),
      );
  }

  async #updateNode(nodeName: string, attachments: readonly storage.VolumeAttachment[], disks: readonly string[]): Promise<void> {
    const node = this.#nodes.get({ name: nodeName });
    const listed = disks.map((name) => ({ name, devicePath: '' }));
    const volumesAttached = [...attachedVolumes(attachments, this.#volumeNamed), ...listed];
    if (node === undefined || deepEqual([...(node.status?.volumesAttached ?? [])], volumesAttached)) return;
    // With the resource version: a kubelet that has mounted a volume since then must not lose it.
    const { resourceVersion } = node.metadata;
    await this.context.client
      .of(core.Node)
      .patch({ name: nodeName }, { metadata: { resourceVersion }, status: { volumesAttached } }, { subresource: 'status' });
  }

  async #perform(nodeName: string, action: AttachAction): Promise<void> {
    const attachments = this.context.client.of(storage.VolumeAttachment);
    switch (action.type) {
      case 'attach':
        await attachments.create(action.attachment).catch(ignoreExisting);
        return;
      case 'detach':
        if (action.isForced)
          this.context.logger.warn('detaching a volume that its node may still use', { node: nodeName, attachment: action.name });
        await attachments.delete({ name: action.name });
        this.#unneeded.delete(action.name);
        this.#reported.delete(action.name);
        return;
      case 'multi-attach':
        this.#recordMultiAttach(nodeName, action.volumeName, action.nodes);
        this.#queue.queue.addAfter(nodeName, MULTI_ATTACH_RETRY_MS);
    }
  }

  #recordMultiAttach(nodeName: string, volumeName: string, nodes: readonly string[]): void {
    const others = nodes.flatMap((node) => this.#podsUsing(node, volumeName));
    for (const pod of this.#podsUsing(nodeName, volumeName)) {
      const own = others.filter(({ metadata }) => metadata.namespace === pod.metadata.namespace).map(({ metadata }) => metadata.name);
      const detail =
        own.length === 0
          ? "Volume is already exclusively attached to one node and can't be attached to another"
          : `Volume is already used by pod(s) ${own.join(', ')}`;
      this.#events.warning(pod, 'FailedAttachVolume', `Multi-Attach error for volume "${volumeName}" ${detail}`);
    }
  }
}

function follow<T extends Identified>(informer: SharedInformer<T>, add: (object: T) => void): void {
  informer.addHandler({ add, update: (_, object) => add(object), delete: add });
}

/** Whether a pod has volumes that may have to be attached. */
function mayNeedAttach(spec: core.PodSpec | undefined): boolean {
  return (spec?.volumes ?? []).some(
    ({ persistentVolumeClaim, ephemeral, iscsi, fc }) => (persistentVolumeClaim ?? ephemeral ?? iscsi ?? fc) !== undefined,
  );
}

function hasEnded({ status }: core.Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

async function ifPresent<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (!isStatusReason(error, 'NotFound')) throw error;
    return undefined;
  });
}

function watchedParts(node: core.Node) {
  const { spec, status } = node;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? '';
  return {
    inUse: [...(status?.volumesInUse ?? [])],
    taints: (spec?.taints ?? []).map(({ key }) => key),
    ready,
    disks: [...attachedDisks(node)],
  };
}

function volumeOf({ spec }: storage.VolumeAttachment): string {
  return spec.source?.persistentVolumeName ?? '';
}

function ignoreExisting(error: unknown): void {
  if (!isStatusReason(error, 'AlreadyExists')) throw error;
}
