import { core, storage } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { isStatusReason } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { type ContentSource, CreateVolume, DeleteVolume } from '../messages.ts';
import { type DriverController, type DriverControllerDeps, ignoreError, leaseName } from './driver-controller.ts';
import { InfeasibleRequests } from './infeasible-requests.ts';
import {
  dataSourceOf,
  deletionSecret,
  type MadeVolume,
  PROVISIONED_BY,
  type ProvisionRequest,
  persistentVolume,
  provisionRequest,
  secretFor,
  VOLUME_FINALIZER,
} from './provision-request.ts';
import { SNAPSHOT, SNAPSHOT_CONTENT, type VolumeSnapshot, type VolumeSnapshotContent } from './snapshot-kinds.ts';
import { nodeTopology } from './topology.ts';

type Claim = core.PersistentVolumeClaim;

const PROVISIONERS = ['volume.kubernetes.io/storage-provisioner', 'volume.beta.kubernetes.io/storage-provisioner'];
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** Protects a claim until its volume is recorded or ruled out, so that a crash in between leaks nothing. */
const CLAIM_FINALIZER = 'sampan.dev/csi-provisioning';
const MAX_FAILED_UNDOS = 5;
const CLAIM = 'claim:';

/** Provisions volumes for claims and deletes released ones, like external-provisioner. */
export function provisionerController(deps: DriverControllerDeps): DriverController {
  const { informers, driver } = deps;
  const claims = informers.of(core.PersistentVolumeClaim);
  const volumes = informers.of(core.PersistentVolume);
  const classes = informers.of(storage.StorageClass);
  informers.of(storage.CSINode);
  informers.of(core.Node);
  const provisioner = new Provisioner(deps);
  return {
    name: 'provision',
    sidecarLease: leaseName(driver.name),
    follow(enqueue) {
      const claimChanged = (claim: Claim) => enqueue(CLAIM + keyOf(claim));
      const volumeChanged = (volume: core.PersistentVolume) => enqueue(volume.metadata.name);
      claims.addHandler({ add: claimChanged, update: (_, claim) => claimChanged(claim) });
      volumes.addHandler({ add: volumeChanged, update: (_, volume) => volumeChanged(volume) });
      classes.addHandler({
        add: ({ metadata }) => {
          for (const claim of claims.lister.list()) if (claim.spec?.storageClassName === metadata.name) claimChanged(claim);
        },
      });
    },
    sync: (key) => (key.startsWith(CLAIM) ? provisioner.syncClaim(key.slice(CLAIM.length)) : provisioner.syncVolume(key)),
  };
}

interface CreatedVolume extends MadeVolume {
  /** It lacks the content of the claim's data source. */
  readonly isEmpty: boolean;
}

class Provisioner {
  readonly #infeasible: InfeasibleRequests;
  /** By volume name: how often in a row the driver failed to say what it made. */
  readonly #failedUndos = new Map<string, number>();

  constructor(private readonly deps: DriverControllerDeps) {
    this.#infeasible = new InfeasibleRequests(deps.clock);
  }

  async syncClaim(key: string): Promise<Requeue | undefined> {
    const { informers, driver, events } = this.deps;
    const claim = informers.of(core.PersistentVolumeClaim).lister.get(parseKey(key));
    if (claim === undefined) return undefined;
    const isBegun = claim.metadata.finalizers?.includes(CLAIM_FINALIZER) === true;
    if (claim.spec?.volumeName) {
      if (isBegun) await this.#setFinalizer(claim, false);
      return undefined;
    }
    if (!PROVISIONERS.some((name) => claim.metadata.annotations?.[name] === driver.name)) return undefined;
    const isDeleted = claim.metadata.deletionTimestamp !== undefined;
    const storageClass = informers.of(storage.StorageClass).lister.get({ name: claim.spec?.storageClassName ?? '' });
    const node = claim.metadata.annotations?.[SELECTED_NODE];
    if (storageClass === undefined || (isDeleted && !isBegun)) return undefined;
    if (!isBegun && node === undefined && storageClass.volumeBindingMode === 'WaitForFirstConsumer') return undefined;
    if (dataSourceOf(claim).type === 'foreign') {
      events.normal(claim, 'Provisioning', 'Assuming an external populator will provision the volume');
      return undefined;
    }
    if (isDeleted) return this.#undo(this.#request(claim, storageClass));
    const classId = storageClass.metadata.uid ?? '';
    const delay = this.#infeasible.delay(key, classId);
    if (delay !== undefined) return delay;
    events.normal(claim, 'Provisioning', `External provisioner is provisioning volume for claim "${key}"`);
    try {
      const request = this.#request(claim, storageClass);
      await this.#provision(request, node);
      events.normal(claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${request.name}`);
      return undefined;
    } catch (error) {
      // Somebody else changed the claim: the next try reads it again.
      if (isStatusReason(error, 'Conflict')) throw error;
      if (error instanceof CsiError && error.isInvalid) {
        const text = `Volume provisioning failed with infeasible error. Retries will be delayed. ${messageOf(error)}`;
        events.warning(claim, 'ProvisioningFailed', text);
        return this.#infeasible.add(key, classId);
      }
      await this.#failed(claim, node, error);
      throw error;
    }
  }

  #request(claim: Claim, storageClass: storage.StorageClass): ProvisionRequest {
    return provisionRequest(claim, storageClass, this.deps.capabilities.has('SINGLE_NODE_MULTI_WRITER'));
  }

  async #failed(claim: Claim, node: string | undefined, error: unknown): Promise<void> {
    this.deps.events.warning(claim, 'ProvisioningFailed', messageOf(error));
    // No capacity on the selected node: the scheduler must choose another one.
    if (node === undefined || !(error instanceof CsiError) || !error.isExhausted) return;
    await this.#setFinalizer(claim, false);
    await this.deps.client.of(core.PersistentVolumeClaim).patch(claim.metadata, { metadata: { annotations: { [SELECTED_NODE]: null } } });
  }

  async #provision(request: ProvisionRequest, node: string | undefined): Promise<void> {
    const { client } = this.deps;
    await this.#setFinalizer(request.claim, true);
    const created = await this.#create(request, node);
    const defect = defectOf(created, request);
    if (defect !== undefined) {
      await this.#delete(created.volumeId, secretFor(request, 'provisioner'));
      throw new Error(defect);
    }
    await client.of(core.PersistentVolume).create(persistentVolume(request, created)).catch(ignoreError('AlreadyExists'));
    await this.#setFinalizer(request.claim, false);
  }

  async #create(request: ProvisionRequest, node: string | undefined): Promise<CreatedVolume> {
    const { driver, client, informers } = this.deps;
    const { claim, name, requiredBytes, volumeCapabilities, parameters } = request;
    const topology = nodeTopology(node, driver.name, informers);
    const contentSource = await this.#contentSource(claim);
    const { volume } = await driver.call(CreateVolume, {
      ...{ name, parameters, capacityRange: { requiredBytes }, volumeCapabilities },
      secrets: await csiSecrets(secretFor(request, 'provisioner'), client),
      mutableParameters: await this.#mutableParameters(claim),
      ...(contentSource && { volumeContentSource: contentSource }),
      ...(topology && { accessibilityRequirements: { requisite: [{ segments: topology }], preferred: [{ segments: topology }] } }),
    });
    if (!volume?.volumeId) throw new Error('the driver made a volume without an id');
    const { volumeId, capacityBytes, volumeContext } = volume;
    const topologies = volume.accessibleTopology.map(({ segments }) => segments);
    const isEmpty = contentSource !== undefined && volume.contentSource === undefined;
    return { driverName: driver.name, volumeId, capacityBytes, volumeContext, topologies, isEmpty };
  }

  async #mutableParameters({ spec }: Claim): Promise<Readonly<Record<string, string>>> {
    const name = spec?.volumeAttributesClassName;
    if (!name) return {};
    const attributes = await this.deps.client.of(storage.VolumeAttributesClass).get({ name });
    if (attributes.driverName !== this.deps.driver.name)
      throw new Error(`VolumeAttributesClass "${name}" is for driver ${attributes.driverName}`);
    return attributes.parameters ?? {};
  }

  async #contentSource(claim: Claim): Promise<ContentSource | undefined> {
    const source = dataSourceOf(claim);
    if (source.type === 'snapshot') {
      this.#require('CREATE_DELETE_SNAPSHOT', 'snapshots');
      if (source.namespace !== claim.metadata.namespace)
        throw new Error(`snapshot ${source.namespace}/${source.name} is in another namespace`);
      return { snapshot: { snapshotId: await this.#snapshotHandle(source.name, source.namespace) } };
    }
    if (source.type !== 'claim') return undefined;
    this.#require('CLONE_VOLUME', 'clones');
    return { volume: { volumeId: await this.#handleOfClaim(source.name, claim) } };
  }

  #require(capability: string, feature: string): void {
    if (!this.deps.capabilities.has(capability)) throw new Error(`driver ${this.deps.driver.name} does not support ${feature}`);
  }

  async #snapshotHandle(name: string, namespace: string): Promise<string> {
    const { client } = this.deps;
    const snapshot = (await client.resource(SNAPSHOT).get({ name, namespace })) as VolumeSnapshot;
    const { boundVolumeSnapshotContentName: contentName, readyToUse } = snapshot.status ?? {};
    if (readyToUse !== true || !contentName) throw new Error(`snapshot ${name} is not Ready`);
    const content = (await client.resource(SNAPSHOT_CONTENT).get({ name: contentName })) as VolumeSnapshotContent;
    const { volumeSnapshotRef, driver } = content.spec;
    if (volumeSnapshotRef.uid !== snapshot.metadata.uid) throw new Error(`snapshot ${name} is not bound to content ${contentName}`);
    if (driver !== this.deps.driver.name) throw new Error(`snapshot ${name} is of driver ${driver}`);
    const handle = content.status?.snapshotHandle;
    if (!handle) throw new Error(`content ${contentName} has no snapshot handle`);
    return handle;
  }

  async #handleOfClaim(name: string, { metadata, spec }: Claim): Promise<string> {
    const { client, driver } = this.deps;
    const source = await client.of(core.PersistentVolumeClaim).get({ name, namespace: metadata.namespace });
    if (source.status?.phase !== 'Bound') throw new Error(`the PVC DataSource ${name} is not bound`);
    if ((source.spec?.volumeMode ?? 'Filesystem') !== (spec?.volumeMode ?? 'Filesystem'))
      throw new Error(`the source PVC and destination PVCs must have the same volume mode for cloning`);
    const volume = await client.of(core.PersistentVolume).get({ name: source.spec?.volumeName ?? '' });
    if (volume.spec?.csi?.driver !== driver.name) throw new Error(`the volume of claim ${name} is not of driver ${driver.name}`);
    return volume.spec.csi.volumeHandle;
  }

  /** The claim was deleted before its volume was recorded: the call is repeated to find the volume, which is then deleted. */
  async #undo(request: ProvisionRequest): Promise<undefined> {
    const { name, claim } = request;
    const existing = await this.deps.client.of(core.PersistentVolume).get({ name }).catch(ignoreError('NotFound'));
    if (existing === undefined) {
      const volumeId = await this.#volumeToUndo(request);
      if (volumeId !== undefined) await this.#delete(volumeId, secretFor(request, 'provisioner'));
    }
    this.#failedUndos.delete(name);
    await this.#setFinalizer(claim, false);
  }

  /** A driver that rejects the request has no volume for it; one that only ever fails must not keep the claim for good. */
  async #volumeToUndo(request: ProvisionRequest): Promise<string | undefined> {
    const { name, claim } = request;
    try {
      return (await this.#create(request, claim.metadata.annotations?.[SELECTED_NODE])).volumeId;
    } catch (error) {
      if (!(error instanceof CsiError) || !error.isFinal) throw error;
      const failures = (this.#failedUndos.get(name) ?? 0) + 1;
      this.#failedUndos.set(name, failures);
      if (error.isRejection || failures >= MAX_FAILED_UNDOS) return undefined;
      throw error;
    }
  }

  async #setFinalizer(claim: Claim, isSet: boolean): Promise<void> {
    const claims = this.deps.client.of(core.PersistentVolumeClaim);
    const { metadata } = await claims.get(claim.metadata).catch(() => ({ metadata: undefined }));
    if (metadata === undefined || metadata.uid !== claim.metadata.uid) return;
    const { finalizers = [], resourceVersion } = metadata;
    if (finalizers.includes(CLAIM_FINALIZER) === isSet) return;
    const next = isSet ? [...finalizers, CLAIM_FINALIZER] : finalizers.filter((finalizer) => finalizer !== CLAIM_FINALIZER);
    await claims.patch(metadata, { metadata: { finalizers: next, resourceVersion } });
  }

  async #delete(volumeId: string, secret: core.SecretReference | undefined): Promise<void> {
    await this.deps.driver.call(DeleteVolume, { volumeId, secrets: await csiSecrets(secret, this.deps.client) });
  }

  async syncVolume(name: string): Promise<undefined> {
    const { informers, driver } = this.deps;
    const volume = informers.of(core.PersistentVolume).lister.get({ name });
    const csi = volume?.spec?.csi;
    if (volume?.metadata.annotations?.[PROVISIONED_BY] !== driver.name || csi?.driver !== driver.name) return;
    const isDeleted = volume.metadata.deletionTimestamp !== undefined;
    const isOver = volume.status?.phase === 'Released' || (isDeleted && volume.status?.phase !== 'Bound');
    if (!isOver) return;
    if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete') await this.#reclaim(volume, csi.volumeHandle);
    else if (!isDeleted) return;
    await this.#removeVolume(volume);
  }

  async #reclaim(volume: core.PersistentVolume, handle: string): Promise<void> {
    const { name } = volume.metadata;
    const attachments = this.deps.informers.of(storage.VolumeAttachment).lister.list();
    const attachment = attachments.find(({ spec }) => spec.source?.persistentVolumeName === name);
    try {
      if (attachment !== undefined) throw new Error(`persistentvolume ${name} is still attached to node ${attachment.spec.nodeName}`);
      await this.#delete(handle, deletionSecret(volume));
    } catch (error) {
      this.deps.events.warning(volume, 'VolumeFailedDelete', messageOf(error));
      throw error;
    }
  }

  async #removeVolume({ metadata }: core.PersistentVolume): Promise<void> {
    const { name, uid } = metadata;
    const volumes = this.deps.client.of(core.PersistentVolume);
    if (metadata.deletionTimestamp === undefined)
      await volumes.delete({ name }, uid === undefined ? {} : { preconditions: { uid } }).catch(ignoreError('NotFound'));
    const current = await volumes.get({ name }).catch(ignoreError('NotFound'));
    const { finalizers, resourceVersion } = current?.metadata ?? {};
    if (finalizers?.includes(VOLUME_FINALIZER) !== true) return;
    const next = finalizers.filter((finalizer) => finalizer !== VOLUME_FINALIZER);
    await volumes.patch({ name }, { metadata: { finalizers: next, resourceVersion } }).catch(ignoreError('NotFound'));
  }
}

/** Why a volume does not satisfy the claim. */
function defectOf({ capacityBytes, isEmpty }: CreatedVolume, { requiredBytes }: ProvisionRequest): string | undefined {
  if (capacityBytes > 0 && capacityBytes < requiredBytes)
    return `created volume capacity ${capacityBytes} less than requested capacity ${requiredBytes}`;
  return isEmpty ? 'volume content source missing' : undefined;
}
