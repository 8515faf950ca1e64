import { core, type storage } from '#api';
import type { EventText } from '#client';
import { migratedDriver } from '../migrated-plugins.ts';
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, hasAnnotation, isReservedFor, SELECTED_NODE } from './binding.ts';
import { findMatch, volumeMismatch } from './match-volume.ts';
import { choosesClass, classNameOf, defaultClass } from './storage-class.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

/** The state that the decision is based on. */
export interface ClaimView {
  volume(name: string): Volume | undefined;
  /** Free volumes, at least those in the claim's class, and volumes that are reserved for the claim. */
  volumes(): readonly Volume[];
  classes(): readonly storage.StorageClass[];
  /** The pods that use the claim. */
  pods(): readonly core.Pod[];
}

export type ClaimAction =
  /** Binds volume and claim to each other, unless they are. */
  | { readonly type: 'bind'; readonly volume: Volume }
  /** There is no matching volume yet. */
  | { readonly type: 'wait'; readonly event?: EventText }
  /** The bound volume is gone or has another claim. */
  | { readonly type: 'lose'; readonly event: EventText }
  | { readonly type: 'set-class'; readonly className: string }
  /** An external provisioner creates the volume; it watches for claims that name it. */
  | { readonly type: 'ask-provisioner'; readonly provisioner: string; readonly event: EventText }
  | { readonly type: 'report'; readonly event: EventText; readonly error?: string };

const HOST_PATH = 'kubernetes.io/host-path';
const NFS = 'kubernetes.io/nfs';

export function reconcileClaim(claim: Claim, view: ClaimView): ClaimAction {
  if (hasAnnotation(claim, BIND_COMPLETED)) return reconcileBound(claim, view);
  return claim.spec?.volumeName ? reconcileNaming(claim, claim.spec.volumeName, view) : reconcileFree(claim, view);
}

function reconcileBound(claim: Claim, view: ClaimView): ClaimAction {
  const name = claim.spec?.volumeName;
  if (!name) return lose('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
  const volume = view.volume(name);
  if (volume === undefined) return lose('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  const { claimRef } = volume.spec ?? {};
  if (!claimRef || claimRef.uid === claim.metadata.uid) return { type: 'bind', volume };
  return lose('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
}

/** The user set volumeName. */
function reconcileNaming(claim: Claim, name: string, view: ClaimView): ClaimAction {
  const volume = view.volume(name);
  if (volume === undefined) return { type: 'wait' };
  if (isReservedFor(volume, claim)) return { type: 'bind', volume };
  if (volume.spec?.claimRef) return volumeAlreadyBound(claim, name);
  const reason = volumeMismatch(volume, claim);
  if (reason === undefined) return { type: 'bind', volume };
  return { type: 'wait', event: warning('VolumeMismatch', `Cannot bind to requested volume "${name}": ${reason}`) };
}

function volumeAlreadyBound(claim: Claim, name: string): ClaimAction {
  const event = warning('FailedBinding', `volume "${name}" already bound to a different claim.`);
  if (!hasAnnotation(claim, BOUND_BY_CONTROLLER)) return { type: 'wait', event };
  // The bind-completed annotation was removed.
  return { type: 'report', event, error: `the claim names volume "${name}", which is bound to another claim` };
}

function reconcileFree(claim: Claim, view: ClaimView): ClaimAction {
  const classes = view.classes();
  const className = classNameOf(claim);
  const storageClass = classes.find(({ metadata }) => metadata.name === className);
  const waitsForConsumer = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
  const volume = findMatch(claim, view.volumes(), { waitsForConsumer });
  if (volume !== undefined) return { type: 'bind', volume };
  const chosen = choosesClass(claim) ? undefined : defaultClass(classes);
  if (chosen !== undefined) return { type: 'set-class', className: chosen.metadata.name };
  if (waitsForConsumer && !hasAnnotation(claim, SELECTED_NODE)) return { type: 'wait', event: waitingFor(view.pods()) };
  if (className !== '') return provision(className, storageClass);
  return { type: 'wait', event: normal('FailedBinding', 'no persistent volumes available for this claim and no storage class is set') };
}

function provision(className: string, storageClass: storage.StorageClass | undefined): ClaimAction {
  const failed = (message: string): ClaimAction => ({ type: 'report', event: warning('ProvisioningFailed', message) });
  if (storageClass === undefined) return failed(`storageclass.storage.k8s.io "${className}" not found`);
  const driver = migratedDriver(storageClass.provisioner);
  if (driver === undefined && storageClass.provisioner.startsWith('kubernetes.io/')) return inTreeProvisioning(storageClass.provisioner);
  const provisioner = driver ?? storageClass.provisioner;
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
    'If volume creation is delayed, please verify that the provisioner is running and correctly registered.';
  return { type: 'ask-provisioner', provisioner, event: normal('ExternalProvisioning', message) };
}

/** No in-tree plugin can provision, but upstream has its own messages for some. */
function inTreeProvisioning(plugin: string): ClaimAction {
  if (plugin === HOST_PATH) {
    const message = `Failed to create provisioner: provisioning in volume plugin "${plugin}" is disabled`;
    return { type: 'ask-provisioner', provisioner: plugin, event: warning('ProvisioningFailed', message) };
  }
  const message = plugin === NFS ? 'no provisionable volume plugin matched' : `no volume plugin matched name: ${plugin}`;
  return { type: 'report', event: warning('ProvisioningFailed', message) };
}

function waitingFor(pods: readonly core.Pod[]): EventText {
  const names = pods.filter((pod) => !pod.spec?.nodeName && !hasEnded(pod)).map(({ metadata }) => metadata.name);
  if (names.length === 0) return normal('WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
  return normal('WaitForPodScheduled', `waiting for pod${names.length > 1 ? 's' : ''} ${names.join(',')} to be scheduled`);
}

/** The pod has finished, or it is deleted and no container runs. */
export function hasEnded({ metadata, status = {} }: core.Pod): boolean {
  if (core.isTerminalPhase(status.phase)) return true;
  if (metadata.deletionTimestamp === undefined) return false;
  const containers = [status.initContainerStatuses, status.containerStatuses, status.ephemeralContainerStatuses].flatMap(
    (volumes) => volumes ?? [],
  );
  return containers.every(({ state }) => state?.terminated !== undefined || state?.waiting !== undefined);
}

function lose(reason: string, message: string): ClaimAction {
  return { type: 'lose', event: warning(reason, message) };
}

function normal(reason: string, message: string): EventText {
  return { type: 'Normal', reason, message };
}

function warning(reason: string, message: string): EventText {
  return { type: 'Warning', reason, message };
}
