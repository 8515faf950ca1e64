import { checkDns1123Label, checkDns1123Subdomain, inclusiveRangeText } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { validateLabels } from '../../../meta/v1/label.validation.ts';
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { validateAnnotations } from '../../../meta/v1/object-meta.validation.ts';
import { validatePersistentVolumeClaimSpec } from '../persistent-volume-claim/persistent-volume-claim-spec.validation.ts';
import type { LocalObjectReference } from '../reference/local-object-reference.ts';
import type { AWSElasticBlockStoreVolumeSource } from './aws-elastic-block-store-volume-source.ts';
import type { AzureDiskVolumeSource } from './azure-disk-volume-source.ts';
import type { FCVolumeSource } from './fc-volume-source.ts';
import type { FlockerVolumeSource } from './flocker-volume-source.ts';
import type { GCEPersistentDiskVolumeSource } from './gce-persistent-disk-volume-source.ts';
import type { HostPathVolumeSource } from './host-path-volume-source.ts';
import { iscsiNameFormat, isISCSIName } from './iscsi-name.ts';
import type { KeyToPath } from './key-to-path.ts';
import { validateDescendingPath, validateNoBacksteps, validateNonReservedPath } from './local-path.validation.ts';
import type { NFSVolumeSource } from './nfs-volume-source.ts';
import type { QuobyteVolumeSource } from './quobyte-volume-source.ts';
import type {
  ConfigMapVolumeSource,
  CSIVolumeSource,
  EphemeralVolumeSource,
  FlexVolumeSource,
  GitRepoVolumeSource,
  ImageVolumeSource,
  ISCSIVolumeSource,
  SecretVolumeSource,
  StorageOSVolumeSource,
} from './volume-source.ts';

const MAX_FILE_MODE = 0o777;
const HOST_PATH_TYPES = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const CSI_DRIVER_MAX_LENGTH = 63;

/** Fields that must not be empty. */
export function requireTexts<T extends object>(source: T, at: FieldReport, fields: readonly (keyof T & string)[]): void {
  for (const field of fields) if (!source[field]) at.child(field).required();
}

export function requireMonitors({ monitors }: { readonly monitors?: readonly string[] }, at: FieldReport): void {
  if (!monitors?.length) at.child('monitors').required();
}

export function requireSecretName(ref: LocalObjectReference | undefined, at: FieldReport): void {
  if (ref && !ref.name) at.child('secretRef').child('name').required();
}

export function validateFileMode(mode: number | undefined, at: FieldReport): void {
  if (mode !== undefined && (mode < 0 || mode > MAX_FILE_MODE)) {
    at.invalid(mode, 'must be a number between 0 and 0777 (octal), both inclusive');
  }
}

export function validatePullPolicy(policy: string | undefined, at: FieldReport): void {
  if (!policy) at.required();
  else at.oneOf(policy, PULL_POLICIES);
}

export function validateHostPath({ path, type }: HostPathVolumeSource, at: FieldReport): void {
  if (!path) {
    at.child('path').required();
    return;
  }
  validateNoBacksteps(path, at.child('path'));
  if (type !== undefined) at.child('type').oneOf(type, HOST_PATH_TYPES);
}

export function validateGitRepo(source: GitRepoVolumeSource, at: FieldReport): void {
  requireTexts(source, at, ['repository']);
  validateDescendingPath(source.directory ?? '', at.child('directory'));
}

export function validateGCEPersistentDisk(source: GCEPersistentDiskVolumeSource, at: FieldReport): void {
  requireTexts(source, at, ['pdName']);
  validatePartition(source.partition, at.child('partition'));
}

export function validateAWSElasticBlockStore(source: AWSElasticBlockStoreVolumeSource, at: FieldReport): void {
  requireTexts(source, at, ['volumeID']);
  validatePartition(source.partition, at.child('partition'));
}

// Zero is accepted although the message excludes it: it means no partition.
function validatePartition(partition: number | undefined, at: FieldReport): void {
  if (partition !== undefined && (partition < 0 || partition > 255)) at.invalid(partition, inclusiveRangeText(1, 255));
}

export function validateSecret(source: SecretVolumeSource, at: FieldReport): void {
  requireTexts(source, at, ['secretName']);
  validateFileMode(source.defaultMode, at.child('defaultMode'));
  validateItems(source.items, at.child('items'));
}

export function validateConfigMap(source: ConfigMapVolumeSource, at: FieldReport): void {
  requireTexts(source, at, ['name']);
  validateFileMode(source.defaultMode, at.child('defaultMode'));
  validateItems(source.items, at.child('items'));
}

function validateItems(items: readonly KeyToPath[] | undefined, at: FieldReport): void {
  items?.forEach((item, i) => {
    validateKeyToPath(item, at.index(i));
  });
}

export function validateKeyToPath(item: KeyToPath, at: FieldReport): void {
  requireTexts(item, at, ['key', 'path']);
  validateNonReservedPath(item.path ?? '', at.child('path'));
  validateFileMode(item.mode, at.child('mode'));
}

export function validateNFS(source: NFSVolumeSource, at: FieldReport): void {
  requireTexts(source, at, ['server', 'path']);
  if (!source.path?.startsWith('/')) at.child('path').invalid(source.path ?? '', 'must be an absolute path');
}

export function validateISCSI(source: ISCSIVolumeSource, at: FieldReport): void {
  requireTexts(source, at, ['targetPortal', 'iqn']);
  if (source.iqn) validateISCSIName(source.iqn, at.child('iqn'));
  const lun = source.lun ?? 0;
  if (lun < 0 || lun > 255) at.child('lun').invalid(lun, inclusiveRangeText(0, 255));
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) at.child('secretRef').required();
  if (source.initiatorName !== undefined) validateISCSIName(source.initiatorName, at.child('initiatorname'));
}

function validateISCSIName(name: string, at: FieldReport): void {
  if (iscsiNameFormat(name) === undefined) at.invalid(name, 'must be valid format starting with iqn, eui, or naa');
  else if (!isISCSIName(name)) at.invalid(name, 'must be valid format');
}

export function validateFlocker({ datasetName, datasetUUID }: FlockerVolumeSource, at: FieldReport): void {
  if (!datasetName && !datasetUUID) at.required('one of datasetName and datasetUUID is required');
  if (datasetName && datasetUUID) at.invalid('resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (datasetName?.includes('/')) at.child('datasetName').invalid(datasetName, "must not contain '/'");
}

const HOST_AND_PORT = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

export function validateQuobyte(source: QuobyteVolumeSource, at: FieldReport): void {
  const detail = 'must be a host:port pair or multiple pairs separated by commas';
  const { registry, tenant = '' } = source;
  if (!registry) at.child('registry').required(detail);
  else if (tenant.length >= 65) at.child('tenant').required('must be a UUID and may not exceed a length of 64 characters');
  else for (const pair of registry.split(',')) if (!HOST_AND_PORT.test(pair)) at.child('registry').invalid(registry, detail);
  requireTexts(source, at, ['volume']);
}

export function validateFC({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, at: FieldReport): void {
  const names = at.child('targetWWNs');
  if (targetWWNs.length === 0 && wwids.length === 0) names.required('must specify either targetWWNs or wwids, but not both');
  if (targetWWNs.length > 0 && wwids.length > 0) {
    names.invalid(targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) at.child('lun').required('lun is required if targetWWNs is specified');
  else if (lun < 0 || lun > 255) at.child('lun').invalid(lun, inclusiveRangeText(0, 255));
}

export function validateFlexVolume(source: FlexVolumeSource, at: FieldReport): void {
  requireTexts(source, at, ['driver']);
  for (const option of Object.keys(source.options ?? {})) {
    const domain = `.${option.split('/', 1)[0]?.toLowerCase()}`;
    if (!domain.endsWith('.kubernetes.io') && !domain.endsWith('.k8s.io')) continue;
    at.child('options').key(option).invalid(option, 'kubernetes.io and k8s.io namespaces are reserved');
  }
}

const MANAGED_DISK_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_DISK_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function validateAzureDisk(source: AzureDiskVolumeSource, at: FieldReport): void {
  const { cachingMode, kind, diskURI = '' } = source;
  requireTexts(source, at, ['diskName', 'diskURI']);
  if (cachingMode !== undefined) at.child('cachingMode').oneOf(cachingMode, ['None', 'ReadOnly', 'ReadWrite']);
  if (kind === undefined) return;
  at.child('kind').oneOf(kind, ['Dedicated', 'Managed', 'Shared']);
  const isManaged = kind === 'Managed';
  if (isManaged && !diskURI.startsWith('/subscriptions/')) at.child('diskURI').notSupported(diskURI, [MANAGED_DISK_URI]);
  if (!isManaged && !diskURI.startsWith('https://')) at.child('diskURI').notSupported(diskURI, [BLOB_DISK_URI]);
}

export function validateStorageOS(source: StorageOSVolumeSource, at: FieldReport): void {
  const { volumeName, volumeNamespace } = source;
  if (!volumeName) at.child('volumeName').required();
  else at.child('volumeName').problems(volumeName, checkDns1123Label(volumeName));
  if (volumeNamespace) at.child('volumeNamespace').problems(volumeNamespace, checkDns1123Label(volumeNamespace));
  requireSecretName(source.secretRef, at);
}

export function validateCSI({ driver, nodePublishSecretRef: secret }: CSIVolumeSource, at: FieldReport): void {
  validateCSIDriverName(driver, at.child('driver'));
  if (!secret) return;
  if (!secret.name) at.child('nodePublishSecretRef').child('name').required();
  else at.child('name').problems(secret.name, checkDns1123Subdomain(secret.name));
}

export function validateCSIDriverName(driver: string | undefined, at: FieldReport): void {
  if (!driver) {
    at.required();
    return;
  }
  if (Buffer.byteLength(driver) > CSI_DRIVER_MAX_LENGTH) at.tooLong(CSI_DRIVER_MAX_LENGTH);
  at.problems(driver, checkDns1123Subdomain(driver.toLowerCase()));
}

export function validateEphemeral({ volumeClaimTemplate: template }: EphemeralVolumeSource, at: FieldReport): void {
  const field = at.child('volumeClaimTemplate');
  if (!template) {
    field.required();
    return;
  }
  validateTemplateMetadata(template.metadata ?? {}, field.child('metadata'));
  at.add(validatePersistentVolumeClaimSpec(template.spec ?? {}, field.child('spec').path));
}

/** A template's metadata may have labels and annotations only. */
function validateTemplateMetadata(metadata: ObjectMeta, at: FieldReport): void {
  if (metadata.annotations) at.add(validateAnnotations(metadata.annotations, at.child('annotations').path));
  if (metadata.labels) at.add(validateLabels(metadata.labels, at.child('labels').path));
  for (const field of TEMPLATE_METADATA_FORBIDDEN) {
    if (metadata[field]) at.child(field === 'uid' ? 'uID' : field).forbidden('cannot be set');
  }
}

// In the order of upstream's struct.
const TEMPLATE_METADATA_FORBIDDEN = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

export function validateImage(source: ImageVolumeSource, at: FieldReport, { isPod }: { readonly isPod: boolean }): void {
  if (isPod) requireTexts(source, at, ['reference']);
  validatePullPolicy(source.pullPolicy, at.child('pullPolicy'));
}
