import type { core, storage } from '#api';
import { formatTime, Quantity } from '#machinery';
import { BACKINGS, type Backing } from './local-backend.ts';

export const LOCAL_PROVISIONER = 'sampan.dev/local';
export const FINALIZER = 'sampan.dev/local-volume';
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const PROVISIONERS = ['volume.kubernetes.io/storage-provisioner', 'volume.beta.kubernetes.io/storage-provisioner'];
export const HOSTNAME_LABEL = 'kubernetes.io/hostname';

export type ClaimAction =
  | { readonly type: 'none' }
  | { readonly type: 'provision'; readonly nodeName: string | undefined }
  | { readonly type: 'fail'; readonly message: string }
  /** Its source is of a kind that a volume populator knows. */
  | { readonly type: 'leave-to-populator' }
  | { readonly type: 'expand'; readonly storage: string };

/** The provisioner's action for a claim of its class. */
export function claimAction(
  claim: core.PersistentVolumeClaim,
  volume?: core.PersistentVolume,
  storageClass?: storage.StorageClass,
): ClaimAction {
  if (claim.metadata.deletionTimestamp !== undefined) return { type: 'none' };
  const { volumeName, resources } = claim.spec ?? {};
  const requested = resources?.requests?.storage ?? '0';
  if (volumeName) return volume === undefined ? { type: 'none' } : expansion(claim, volume, requested);
  if (!PROVISIONERS.some((name) => claim.metadata.annotations?.[name] === LOCAL_PROVISIONER) || storageClass === undefined)
    return { type: 'none' };
  if (isPopulated(claim)) return { type: 'leave-to-populator' };
  const message = unsupported(claim, storageClass) ?? tooLarge(claim, storageClass);
  if (message !== undefined) return { type: 'fail', message };
  const nodeName = claim.metadata.annotations?.[SELECTED_NODE];
  if (nodeName === undefined && storageClass.volumeBindingMode === 'WaitForFirstConsumer') return { type: 'none' };
  return { type: 'provision', nodeName };
}

const SNAPSHOT_GROUP = 'snapshot.storage.k8s.io';

function isPopulated({ spec }: core.PersistentVolumeClaim): boolean {
  const source = spec?.dataSourceRef ?? spec?.dataSource;
  return source !== undefined && copiedKind(source) === undefined;
}

/** What provisioners themselves fill volumes from. */
function copiedKind({ kind, apiGroup }: { readonly kind: string; readonly apiGroup?: string }): 'claim' | 'snapshot' | undefined {
  if (kind === 'PersistentVolumeClaim' && !apiGroup) return 'claim';
  return kind === 'VolumeSnapshot' && apiGroup === SNAPSHOT_GROUP ? 'snapshot' : undefined;
}

/** Values of the class parameter; block devices are requested by the claim's volumeMode. */
const CLASS_BACKINGS: readonly string[] = ['directory', 'quota', 'loop'] satisfies readonly Backing[];

function unsupported({ spec }: core.PersistentVolumeClaim, { parameters = {} }: storage.StorageClass): string | undefined {
  const { selector, dataSource, dataSourceRef = dataSource } = spec ?? {};
  const source = dataSourceRef && copiedKind(dataSourceRef);
  if (selector) return 'claim.Spec.Selector is not supported for dynamic provisioning';
  if (source === 'claim') return 'volumes of this class cannot be cloned; use a CSI driver that can';
  if (source === 'snapshot') return 'volumes of this class cannot be restored from snapshots; use a CSI driver that can';
  const { backing = 'directory', ...others } = parameters;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `unknown parameter "${unknown}"; the only one is "backing"`;
  if (!CLASS_BACKINGS.includes(backing)) return `parameter backing is "${backing}"; it must be "directory", "quota" or "loop"`;
  return undefined;
}

/** For volumes with a limit: the size exceeds what a file can have. */
function tooLarge(claim: core.PersistentVolumeClaim, storageClass: storage.StorageClass): string | undefined {
  const { storage: size = '0' } = claim.spec?.resources?.requests ?? {};
  if (backingOf(storageClass, claim) === 'directory' || Number.isSafeInteger(Quantity.parse(size).value())) return undefined;
  return `${size} is more than a file can hold`;
}

function expansion(claim: core.PersistentVolumeClaim, volume: core.PersistentVolume, requested: string): ClaimAction {
  if (!isProvisionedHere(volume) || claim.status?.phase !== 'Bound') return { type: 'none' };
  const sizes = [volume.spec?.capacity?.storage, claim.status.capacity?.storage];
  const isSmaller = sizes.some((size) => Quantity.parse(size ?? '0').compare(Quantity.parse(requested)) < 0);
  return isSmaller ? { type: 'expand', storage: requested } : { type: 'none' };
}

/** Whether the file system grows to this size as soon as no pod uses it. */
export function isWaitingForNode({ status }: core.PersistentVolumeClaim, size: string | undefined): boolean {
  return status?.allocatedResourceStatuses?.storage === 'NodeResizePending' && status.allocatedResources?.storage === size;
}

export function waitingStatus(size: string, nowMs: number): object {
  const message = 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.';
  return {
    allocatedResources: { storage: size },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
    conditions: [{ type: 'FileSystemResizePending', status: 'True', lastTransitionTime: formatTime(nowMs), message }],
  };
}

export function expandedStatus(size: string): object {
  return { capacity: { storage: size }, allocatedResources: null, allocatedResourceStatuses: null, conditions: null };
}

export function isProvisionedHere({ metadata }: core.PersistentVolume): boolean {
  return metadata.annotations?.[PROVISIONED_BY] === LOCAL_PROVISIONER;
}

/** The node of the volume. */
export function nodeOf({ spec }: core.PersistentVolume): string | undefined {
  const [term] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return term?.matchExpressions?.find(({ key }) => key === HOSTNAME_LABEL)?.values?.[0];
}

/** `delete`: data and object are deleted. `finalize`: the object is already deleted; the data follows its reclaim policy once no claim uses it. */
export function volumeAction(volume: core.PersistentVolume): 'none' | 'delete' | 'finalize' {
  const { metadata, spec, status } = volume;
  if (!isProvisionedHere(volume) || status?.phase === 'Bound') return 'none';
  if (metadata.deletionTimestamp !== undefined) return metadata.finalizers?.includes(FINALIZER) ? 'finalize' : 'none';
  return status?.phase === 'Released' && spec?.persistentVolumeReclaimPolicy === 'Delete' ? 'delete' : 'none';
}

export interface NewVolume {
  readonly claim: core.PersistentVolumeClaim;
  readonly storageClass: storage.StorageClass;
  readonly hostname: string;
  readonly path: string;
}

/** Whether the class allows volumes on the node. */
export function allowsNode({ allowedTopologies = [] }: storage.StorageClass, { metadata }: core.Node): boolean {
  const isAllowed = ({ matchLabelExpressions = [] }: core.TopologySelectorTerm) =>
    matchLabelExpressions.every(({ key, values = [] }) => values.some((value) => metadata.labels?.[key] === value));
  return allowedTopologies.length === 0 || allowedTopologies.some(isAllowed);
}

export function volumeNameOf({ metadata }: core.PersistentVolumeClaim): string {
  return `pvc-${metadata.uid}`;
}

export function backingOf({ parameters }: storage.StorageClass, { spec }: core.PersistentVolumeClaim): Backing {
  if (spec?.volumeMode === 'Block') return 'block';
  return parseBacking(parameters?.backing);
}

export function parseBacking(name: string | undefined): Backing {
  return BACKINGS.find((backing) => backing === name) ?? 'directory';
}

export const BACKING = 'sampan.dev/backing';

export function newVolume({ claim, storageClass, hostname, path }: NewVolume): core.PersistentVolume {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const { mountOptions, reclaimPolicy = 'Delete' } = storageClass;
  return {
    metadata: {
      name: volumeNameOf(claim),
      finalizers: [FINALIZER],
      annotations: { [PROVISIONED_BY]: LOCAL_PROVISIONER, [BACKING]: backingOf(storageClass, claim) },
    },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '0' },
      accessModes: claim.spec?.accessModes ?? [],
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      volumeMode: claim.spec?.volumeMode ?? 'Filesystem',
      ...(mountOptions && mountOptions.length > 0 && { mountOptions }),
      claimRef: {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        name,
        ...(namespace && { namespace }),
        ...(uid && { uid }),
        ...(resourceVersion && { resourceVersion }),
      },
      local: { path },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: HOSTNAME_LABEL, operator: 'In', values: [hostname] }] }] },
      },
    },
  };
}

/** `standard`: the default class. */
export const DEFAULT_STORAGE_CLASS = {
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: LOCAL_PROVISIONER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
} as const;
