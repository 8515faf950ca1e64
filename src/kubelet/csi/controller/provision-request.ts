import type { core, storage } from '#api';
import { Quantity } from '#machinery';
import type { ContentSource, VolumeCapability } from '../messages.ts';
import { volumeCapability } from '../volume-capability.ts';
import type { SidecarFlags } from './sidecar-flags.ts';
import { templateSecret } from './template-secret.ts';

type Claim = core.PersistentVolumeClaim;

export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
export const VOLUME_FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer';
const DELETION_SECRET = 'volume.kubernetes.io/provisioner-deletion-secret';
const MODIFY_SECRET = 'volume.kubernetes.io/controller-modify-secret';
const OWN_PARAMETERS = 'csi.storage.k8s.io/';
const FS_TYPE = `${OWN_PARAMETERS}fstype`;
const SECRET_PARAMETER =
  /^csi\.storage\.k8s\.io\/((provisioner|controller-publish|node-stage|node-publish|controller-expand|node-expand|controller-modify)-)?secret-name(space)?$/;
const SNAPSHOT_GROUP = 'snapshot.storage.k8s.io';

/** A request to provision a volume for a claim. */
export interface ProvisionRequest {
  readonly claim: Claim;
  readonly storageClass: storage.StorageClass;
  /** Derived from the claim, so that a repeated call is idempotent. */
  readonly name: string;
  readonly fsType: string;
  readonly requiredBytes: number;
  /** One for each access mode. */
  readonly volumeCapabilities: readonly VolumeCapability[];
  readonly parameters: Readonly<Record<string, string>>;
}

export interface ProvisionOptions {
  /** The driver supports SINGLE_NODE_MULTI_WRITER. */
  readonly knowsSingleNodeModes: boolean;
  readonly flags: SidecarFlags;
}

export function provisionRequest(claim: Claim, storageClass: storage.StorageClass, options: ProvisionOptions): ProvisionRequest {
  const { knowsSingleNodeModes, flags } = options;
  const { accessModes = [], volumeMode, resources } = claim.spec ?? {};
  if (claim.spec?.selector !== undefined) throw new Error('claim Selector is not supported');
  const isBlock = volumeMode === 'Block';
  const all = storageClass.parameters ?? {};
  const fsType = isBlock ? '' : (fsTypeOf(all) ?? flags.defaultFsType);
  const { mountOptions = [] } = storageClass;
  return {
    ...{ claim, storageClass, name: volumeName(claim), fsType },
    requiredBytes: Quantity.parse(resources?.requests?.storage ?? '0').value(),
    volumeCapabilities: accessModes.map((mode) =>
      volumeCapability({ accessModes: [mode], isBlock, fsType, mountOptions, knowsSingleNodeModes }),
    ),
    parameters: { ...driverParameters(all), ...(flags.extraCreateMetadata && createMetadata(claim)) },
  };
}

function createMetadata(claim: Claim): Readonly<Record<string, string>> {
  const { name, namespace = '' } = claim.metadata;
  return {
    [`${OWN_PARAMETERS}pvc/name`]: name,
    [`${OWN_PARAMETERS}pvc/namespace`]: namespace,
    [`${OWN_PARAMETERS}pv/name`]: volumeName(claim),
  };
}

export function volumeName({ metadata }: Claim): string {
  return `pvc-${metadata.uid}`;
}

/** The deprecated parameter `fstype`, in any case, is also passed on to the driver. */
function fsTypeOf(parameters: Readonly<Record<string, string>>): string | undefined {
  const names = Object.keys(parameters).filter((name) => name.toLowerCase() === 'fstype' || name === FS_TYPE);
  if (names.length > 1) throw new Error(`fstype specified in parameters with both "fstype" and "${FS_TYPE}" keys`);
  return parameters[names[0] ?? FS_TYPE] || undefined;
}

/** The parameters of a class without the provisioner's own. */
export function driverParameters(parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(parameters);
  const unknown = entries.find(([key]) => key.startsWith(OWN_PARAMETERS) && key !== FS_TYPE && !SECRET_PARAMETER.test(key));
  if (unknown !== undefined)
    throw new Error(
      `failed to strip CSI Parameters of prefixed keys: found unknown parameter key "${unknown[0]}" with reserved namespace ${OWN_PARAMETERS}`,
    );
  return Object.fromEntries(entries.filter(([key]) => !key.startsWith(OWN_PARAMETERS)));
}

export function secretFor({ claim, storageClass, name }: ProvisionRequest, purpose: string): core.SecretReference | undefined {
  return templateSecret(storageClass.parameters ?? {}, purpose, { claim, volumeName: name });
}

export type DataSource =
  | { readonly type: 'none' }
  | { readonly type: 'snapshot'; readonly name: string; readonly namespace: string }
  | { readonly type: 'claim'; readonly name: string; readonly namespace: string }
  /** A volume populator provides the volume. */
  | { readonly type: 'foreign'; readonly kind: string };

/** The data source of a claim's volume. */
export function dataSourceOf({ spec, metadata }: Claim): DataSource {
  const source = spec?.dataSourceRef ?? spec?.dataSource;
  if (!source) return { type: 'none' };
  const { kind, name, apiGroup } = source;
  const namespace = spec?.dataSourceRef?.namespace ?? metadata.namespace ?? '';
  if (kind === 'PersistentVolumeClaim' && !apiGroup) return { type: 'claim', name, namespace };
  if (kind === 'VolumeSnapshot' && apiGroup === SNAPSHOT_GROUP) return { type: 'snapshot', name, namespace };
  return { type: 'foreign', kind: apiGroup ? `${apiGroup}/${kind}` : kind };
}

export interface MadeVolume {
  readonly driverName: string;
  readonly volumeId: string;
  readonly capacityBytes: number;
  readonly volumeContext: Readonly<Record<string, string>>;
  readonly topologies: readonly Readonly<Record<string, string>>[];
  readonly contentSource?: ContentSource | undefined;
}

/** The PersistentVolume for the provisioned volume. */
export function persistentVolume(request: ProvisionRequest, volume: MadeVolume): core.PersistentVolume {
  const { claim, storageClass, name, fsType, requiredBytes } = request;
  const { accessModes = [], volumeMode = 'Filesystem', volumeAttributesClassName } = claim.spec ?? {};
  const nodeSelectorTerms = volume.topologies
    .filter((segments) => Object.keys(segments).length > 0)
    .map((segments) => ({
      matchExpressions: Object.entries(segments).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    }));
  const secrets = {
    controllerPublishSecretRef: secretFor(request, 'controller-publish'),
    nodeStageSecretRef: secretFor(request, 'node-stage'),
    nodePublishSecretRef: secretFor(request, 'node-publish'),
    controllerExpandSecretRef: secretFor(request, 'controller-expand'),
    nodeExpandSecretRef: secretFor(request, 'node-expand'),
  };
  return {
    metadata: { name, finalizers: [VOLUME_FINALIZER], annotations: annotationsFor(request, volume.driverName) },
    spec: {
      capacity: { storage: Quantity.of(volume.capacityBytes || requiredBytes, 'BinarySI').toString() },
      ...{ accessModes, volumeMode, storageClassName: storageClass.metadata.name },
      ...(storageClass.mountOptions && { mountOptions: storageClass.mountOptions }),
      ...(volumeAttributesClassName && { volumeAttributesClassName }),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      claimRef: claimReference(claim),
      csi: {
        ...{ driver: volume.driverName, volumeHandle: volume.volumeId, volumeAttributes: volume.volumeContext },
        ...(fsType && { fsType }),
        ...(Object.fromEntries(Object.entries(secrets).filter(([, value]) => value)) as Partial<Record<keyof typeof secrets, object>>),
      },
      ...(nodeSelectorTerms.length > 0 && { nodeAffinity: { required: { nodeSelectorTerms } } }),
    },
  };
}

/** Secrets of later calls are recorded on the volume, since the class may be deleted by then. An empty name means none. */
function annotationsFor(request: ProvisionRequest, driverName: string): Readonly<Record<string, string>> {
  const { name = '', namespace = '' } = secretFor(request, 'provisioner') ?? {};
  const modify = secretFor(request, 'controller-modify');
  return {
    [PROVISIONED_BY]: driverName,
    ...{ [`${DELETION_SECRET}-name`]: name, [`${DELETION_SECRET}-namespace`]: namespace },
    ...(modify && { [`${MODIFY_SECRET}-name`]: modify.name ?? '', [`${MODIFY_SECRET}-namespace`]: modify.namespace ?? '' }),
  };
}

export function deletionSecret(volume: core.PersistentVolume): core.SecretReference | undefined {
  return annotatedSecret(volume, DELETION_SECRET);
}

/** The secret of ControllerModifyVolume; by default that of ControllerExpandVolume. */
export function modifySecret(volume: core.PersistentVolume): core.SecretReference | undefined {
  return annotatedSecret(volume, MODIFY_SECRET) ?? volume.spec?.csi?.controllerExpandSecretRef;
}

function annotatedSecret({ metadata }: core.PersistentVolume, annotation: string): core.SecretReference | undefined {
  const name = metadata.annotations?.[`${annotation}-name`];
  const namespace = metadata.annotations?.[`${annotation}-namespace`];
  return name && namespace ? { name, namespace } : undefined;
}

function claimReference({ metadata }: Claim): core.ObjectReference {
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid, resourceVersion };
}
