import { core, storage } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { isStatusReason } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { CreateVolume, type CreateVolumeRequest, DeleteVolume } from '../messages.ts';
import { type AccessibilityRequirements, accessibilityRequirements, UnusableNodeError } from './accessibility.ts';
import { contentSource } from './content-source.ts';
import { type DriverController, type DriverControllerDeps, ignoreError, leaseName } from './driver-controller.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';
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
  volumeName,
} from './provision-request.ts';
import { sidecarFlags } from './sidecar-flags.ts';

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
  informers.of(storage.CSIDriver);
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
  /** By volume name: requests without a certain outcome. */
  readonly #accessibility = new Map<
    string,
    { readonly node: string | undefined; readonly requirements: AccessibilityRequirements | undefined }
  >();

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
    if (!isDeleted && node === undefined && storageClass.volumeBindingMode === 'WaitForFirstConsumer') return undefined;
    if (dataSourceOf(claim).type === 'foreign') {
      events.normal(claim, 'Provisioning', 'Assuming an external populator will provision the volume');
      return undefined;
    }
    if (isDeleted) return this.#undo(this.#request(claim, storageClass));
    const classId = storageClass.metadata.uid ?? '';
    const delay = this.#infeasible.delay(key, classId);
    if (delay !== undefined) return delay;
    events.normal(claim, 'Provisioning', `External provisioner is provisioning volume for claim "${key}"`);
    const request = { claim, name: volumeName(claim) };
    try {
      await this.#provision(this.#request(claim, storageClass), node);
      events.normal(claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${request.name}`);
      return undefined;
    } catch (error) {
      // The claim was changed concurrently: the retry reads it again.
      if (isStatusReason(error, 'Conflict')) throw error;
      if (error instanceof CsiError && error.isInvalid) {
        const text = `Volume provisioning failed with infeasible error. Retries will be delayed. ${messageOf(error)}`;
        events.warning(claim, 'ProvisioningFailed', text);
        return this.#infeasible.add(key, classId);
      }
      return this.#failed(request, node, error);
    }
  }

  #request(claim: Claim, storageClass: storage.StorageClass): ProvisionRequest {
    const { capabilities, driver, informers } = this.deps;
    const knowsSingleNodeModes = capabilities.has('SINGLE_NODE_MULTI_WRITER');
    return provisionRequest(claim, storageClass, { knowsSingleNodeModes, flags: sidecarFlags(driver.name, informers) });
  }

  /** Resolves when the scheduler has to choose another node first; rejects otherwise: the request is repeated. */
  async #failed({ claim, name }: Pick<ProvisionRequest, 'claim' | 'name'>, node: string | undefined, error: unknown): Promise<undefined> {
    this.deps.events.warning(claim, 'ProvisioningFailed', messageOf(error));
    const isFinal = error instanceof CsiError && error.isFinal;
    if (isFinal) this.#accessibility.delete(name);
    const isExhausted = this.deps.supportsTopology && error instanceof CsiError && error.isExhausted;
    if (node === undefined || !(isExhausted || error instanceof UnusableNodeError)) throw error;
    if (isExhausted) await this.#setFinalizer(claim, false);
    await this.deps.client.of(core.PersistentVolumeClaim).patch(claim.metadata, { metadata: { annotations: { [SELECTED_NODE]: null } } });
  }

  async #provision(request: ProvisionRequest, node: string | undefined): Promise<void> {
    const { client } = this.deps;
    const call = await this.#prepare(request, node);
    await this.#setFinalizer(request.claim, true);
    const created = await this.#create(call);
    const defect = defectOf(created, request);
    if (defect !== undefined) {
      await this.#delete(created.volumeId, secretFor(request, 'provisioner'));
      throw new Error(defect);
    }
    await client.of(core.PersistentVolume).create(persistentVolume(request, created)).catch(ignoreError('AlreadyExists'));
    await this.#setFinalizer(request.claim, false);
    this.#accessibility.delete(request.name);
  }

  async #prepare(request: ProvisionRequest, node: string | undefined): Promise<CreateVolumeRequest> {
    const { claim, name, requiredBytes, volumeCapabilities, parameters } = request;
    const volumeContentSource = await contentSource(claim, this.deps);
    const secrets = await csiSecrets(secretFor(request, 'provisioner'), this.deps.client);
    const mutableParameters = await this.#mutableParameters(claim);
    const accessibilityRequirements = this.#accessibilityRequirements(request, node);
    return {
      ...{ name, parameters, capacityRange: { requiredBytes }, volumeCapabilities, secrets, mutableParameters },
      ...(volumeContentSource && { volumeContentSource }),
      ...(accessibilityRequirements && { accessibilityRequirements }),
    };
  }

  /** Unchanged until the outcome is certain, even if nodes change: drivers expect repeated calls to be identical. */
  #accessibilityRequirements(
    { name, claim, storageClass }: ProvisionRequest,
    node: string | undefined,
  ): AccessibilityRequirements | undefined {
    const { informers, driver, supportsTopology } = this.deps;
    if (!supportsTopology) return undefined;
    const before = this.#accessibility.get(name);
    if (before !== undefined && before.node === node) return before.requirements;
    const { allowedTopologies = [] } = storageClass;
    const options = { driverName: driver.name, claimName: claim.metadata.name, allowedTopologies, selectedNode: node };
    try {
      const requirements = accessibilityRequirements(options, informers);
      this.#accessibility.set(name, { node, requirements });
      return requirements;
    } catch (error) {
      // The volume of a terminating claim must be found, even if its node was deleted.
      if (claim.metadata.deletionTimestamp !== undefined) return undefined;
      if (error instanceof UnusableNodeError) throw error;
      throw new Error(`error generating accessibility requirements: ${messageOf(error)}`, { cause: error });
    }
  }

  async #create(call: CreateVolumeRequest): Promise<CreatedVolume> {
    const { driver, supportsTopology } = this.deps;
    const { volume } = await driver.call(CreateVolume, call);
    if (!volume?.volumeId) throw new Error('the driver made a volume without an id');
    const { volumeId, capacityBytes, volumeContext } = volume;
    const topologies = supportsTopology ? volume.accessibleTopology.map(({ segments }) => segments) : [];
    const isEmpty = call.volumeContentSource !== undefined && volume.contentSource === undefined;
    return { driverName: driver.name, volumeId, capacityBytes, volumeContext, topologies, isEmpty };
  }

  async #mutableParameters({ spec }: Claim): Promise<Readonly<Record<string, string>>> {
    const name = spec?.volumeAttributesClassName;
    if (!name) return {};
    if (!this.deps.capabilities.has('MODIFY_VOLUME'))
      throw new Error('CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported');
    const attributes = await this.deps.client.of(storage.VolumeAttributesClass).get({ name });
    if (attributes.driverName !== this.deps.driver.name)
      throw new Error(
        `VAC ${name} referenced in PVC is for driver ${attributes.driverName} which does not match driver name ${this.deps.driver.name}`,
      );
    return attributes.parameters ?? {};
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
    this.#accessibility.delete(name);
    await this.#setFinalizer(claim, false);
  }

  /** A driver that rejects the request has no volume for it; one that only ever fails must not keep the claim for good. */
  async #volumeToUndo(request: ProvisionRequest): Promise<string | undefined> {
    const { name, claim } = request;
    try {
      const call = await this.#prepare(request, claim.metadata.annotations?.[SELECTED_NODE]);
      return (await this.#create(call)).volumeId;
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
    if (!isOver) return this.#protectVolume(volume);
    if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete') await this.#reclaim(volume, csi.volumeHandle);
    else if (!isDeleted) return this.#protectVolume(volume);
    await this.#removeVolume(volume);
  }

  /** What is kept when its claim is gone needs no protection: its owner may have changed the policy since. */
  async #protectVolume({ metadata, spec, status }: core.PersistentVolume): Promise<undefined> {
    const isKept = spec?.persistentVolumeReclaimPolicy !== 'Delete';
    const isProtected = metadata.finalizers?.includes(VOLUME_FINALIZER) === true;
    const volumes = this.deps.client.of(core.PersistentVolume);
    if (isProtected && isKept) await removeFinalizer(volumes, metadata, VOLUME_FINALIZER);
    const isMissing = !isProtected && !isKept && status?.phase === 'Bound' && metadata.deletionTimestamp === undefined;
    if (isMissing) await addFinalizer(volumes, metadata, VOLUME_FINALIZER);
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
    await removeFinalizer(volumes, { name }, VOLUME_FINALIZER);
  }
}

/** Why a volume does not satisfy the claim. */
function defectOf({ capacityBytes, isEmpty }: CreatedVolume, { requiredBytes }: ProvisionRequest): string | undefined {
  if (capacityBytes > 0 && capacityBytes < requiredBytes)
    return `created volume capacity ${capacityBytes} less than requested capacity ${requiredBytes}`;
  return isEmpty ? 'volume content source missing' : undefined;
}
