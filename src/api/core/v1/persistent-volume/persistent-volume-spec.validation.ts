import { checkDns1123Label, checkDns1123Subdomain, inclusiveRangeText, nameIsDnsLabel, nameIsDnsSubdomain } from '#machinery';
import { basicResource, positiveQuantity } from '../../../field-checks.ts';
import type { FieldReport } from '../../../field-report.ts';
import { goMap } from '../../../go-struct.ts';
import { validateNodeSelector } from '../node-selector/node-selector.validation.ts';
import { VOLUME_MODES, validateAccessModes } from '../persistent-volume-claim/persistent-volume-claim-spec.validation.ts';
import { isISCSIName } from '../volume/iscsi-name.ts';
import {
  requireMonitors,
  requireTexts,
  validateAWSElasticBlockStore,
  validateAzureDisk,
  validateCSIDriverName,
  validateFC,
  validateFlexVolume,
  validateFlocker,
  validateGCEPersistentDisk,
  validateHostPath,
  validateNFS,
  validateQuobyte,
} from '../volume/volume-source.validation.ts';
import type {
  AzureFilePersistentVolumeSource,
  CinderPersistentVolumeSource,
  CSIPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
  StorageOSPersistentVolumeSource,
} from './persistent-volume-spec.ts';

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
const INLINE = 'in the context of inline volumes';

export interface VolumeSpecRules {
  readonly name: string;
  /** The spec is inline in a VolumeAttachment, where only some fields are allowed. */
  readonly inline?: boolean;
  readonly allowInvalidValues?: boolean;
}

export function validatePersistentVolumeSpec(spec: PersistentVolumeSpec, at: FieldReport, rules: VolumeSpecRules): void {
  if (rules.inline) validateInline(spec, at);
  if (!spec.accessModes?.length) at.child('accessModes').required();
  at.add(validateAccessModes(at.child('accessModes').path, spec.accessModes ?? []));
  if (!rules.inline) validateCapacity(spec, at.child('capacity'));
  validateReclaimPolicy(spec, at.child('persistentVolumeReclaimPolicy'), rules);
  validateNodeAffinity(spec, at.child('nodeAffinity'), rules);
  validateSources(spec, at, rules);
  validateRecycling(spec, at);
  validateClassAndMode(spec, at, rules);
  validateAttributesClass(spec, at, rules);
}

function validateInline(spec: PersistentVolumeSpec, at: FieldReport): void {
  if (spec.claimRef) at.child('claimRef').forbidden(`may not be specified ${INLINE}`);
  if (Object.keys(spec.capacity ?? {}).length > 0) at.child('capacity').forbidden(`may not be specified ${INLINE}`);
  if (!spec.csi) at.child('csi').required(`has to be specified ${INLINE}`);
}

function validateCapacity({ capacity }: PersistentVolumeSpec, at: FieldReport): void {
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) at.required();
  if (capacity?.storage === undefined || names.length > 1) at.notSupported(goMap(capacity), ['storage']);
  for (const [name, amount] of Object.entries(capacity ?? {})) {
    const { path } = at.key(name);
    at.add(basicResource(path, amount));
    at.add(positiveQuantity(path, amount));
  }
}

function validateReclaimPolicy(
  { persistentVolumeReclaimPolicy: policy }: PersistentVolumeSpec,
  at: FieldReport,
  { inline }: VolumeSpecRules,
): void {
  if (!policy) return;
  if (!inline) at.oneOf(policy, RECLAIM_POLICIES);
  else if (policy !== 'Retain') at.forbidden(`may only be Retain ${INLINE}`);
}

function validateNodeAffinity(
  { nodeAffinity }: PersistentVolumeSpec,
  at: FieldReport,
  { inline, allowInvalidValues }: VolumeSpecRules,
): void {
  if (!nodeAffinity) return;
  if (inline) at.forbidden(`may not be specified ${INLINE}`);
  else if (!nodeAffinity.required) at.child('required').required('must specify required node constraints');
  else validateNodeSelector(nodeAffinity.required, at.child('required'), { allowInvalidValues: allowInvalidValues === true });
}

type SourceCheck = readonly [
  name: keyof PersistentVolumeSpec & string,
  check: (spec: PersistentVolumeSpec, at: FieldReport, rules: VolumeSpecRules) => void,
];

/** Validates one volume source, in the field of its name. */
function source<K extends keyof PersistentVolumeSpec & string>(
  name: K,
  check: (source: NonNullable<PersistentVolumeSpec[K]>, at: FieldReport, rules: VolumeSpecRules) => void,
  shownAs: string = name,
): SourceCheck {
  return [name, (spec, at, rules) => check(spec[name] as NonNullable<PersistentVolumeSpec[K]>, at.child(shownAs), rules)];
}

/** In upstream's order: the first is validated, others are excess. */
const SOURCES: readonly SourceCheck[] = [
  source('hostPath', validateHostPath),
  source('gcePersistentDisk', validateGCEPersistentDisk, 'persistentDisk'),
  source('awsElasticBlockStore', validateAWSElasticBlockStore),
  source('glusterfs', validateGlusterfs),
  source('flocker', validateFlocker),
  source('nfs', validateNFS),
  source('rbd', (rbd, at) => {
    requireMonitors(rbd, at);
    requireTexts(rbd, at, ['image']);
  }),
  source('quobyte', validateQuobyte),
  source('cephfs', requireMonitors),
  source('iscsi', (iscsi, at, { name }) => validateISCSI(iscsi, at, name)),
  source('cinder', validateCinder),
  source('fc', validateFC),
  source('flexVolume', validateFlexVolume),
  source('azureFile', validateAzureFile),
  source('vsphereVolume', (vsphere, at) => requireTexts(vsphere, at, ['volumePath'])),
  source('photonPersistentDisk', (photon, at) => requireTexts(photon, at, ['pdID'])),
  source('portworxVolume', (portworx, at) => requireTexts(portworx, at, ['volumeID'])),
  source('azureDisk', validateAzureDisk),
  source('scaleIO', (scaleIO, at) => requireTexts(scaleIO, at, ['gateway', 'system', 'volumeName'])),
  source('local', ({ path }, at) => validateLocalPath(path, at)),
  source('storageos', validateStorageOS),
  source('csi', validateCSI),
];

function validateSources(spec: PersistentVolumeSpec, at: FieldReport, rules: VolumeSpecRules): void {
  let sources = 0;
  for (const [name, check] of SOURCES) {
    if (spec[name] === undefined) continue;
    sources++;
    // Flex volumes are accepted beside others.
    if (sources > 1 && name !== 'flexVolume') {
      at.child(name === 'cephfs' ? 'cephFS' : name).forbidden('may not specify more than 1 volume type');
      continue;
    }
    check(spec, at, rules);
    if (name === 'local' && (!spec.nodeAffinity || rules.inline)) at.child('nodeAffinity').required('Local volume requires node affinity');
  }
  if (sources === 0) at.required('must specify a volume type');
}

function validateLocalPath(path: string | undefined, at: FieldReport): void {
  if (!path) at.child('path').required();
  else if (path.split('/').includes('..')) at.child('path').invalid(path, "must not contain '..'");
}

function validateGlusterfs(glusterfs: GlusterfsPersistentVolumeSource, at: FieldReport): void {
  requireTexts(glusterfs, at, ['endpoints', 'path']);
  const namespace = glusterfs.endpointsNamespace;
  if (namespace === undefined) return;
  const problems =
    namespace === '' ? ['if the endpointnamespace is set, it must be a valid namespace name'] : nameIsDnsLabel(namespace, false);
  at.child('endpointsNamespace').problems(namespace, problems);
}

function validateISCSI(iscsi: ISCSIPersistentVolumeSource, at: FieldReport, volumeName: string): void {
  requireTexts(iscsi, at, ['targetPortal']);
  if (iscsi.initiatorName !== undefined && Buffer.byteLength(`${volumeName}:${iscsi.targetPortal}`) > 64) {
    const detail = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    at.child('targetportal').invalid(iscsi.targetPortal, detail);
  }
  if (iscsi.iqn) validateISCSIName(iscsi.iqn, at.child('iqn'));
  else at.child('iqn').required();
  const lun = iscsi.lun ?? 0;
  if (lun < 0 || lun > 255) at.child('lun').invalid(lun, inclusiveRangeText(0, 255));
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) at.child('secretRef').required();
  if (iscsi.secretRef && !iscsi.secretRef.name) at.child('secretRef').child('name').required();
  if (iscsi.initiatorName !== undefined) validateISCSIName(iscsi.initiatorName, at.child('initiatorname'));
}

function validateISCSIName(name: string, at: FieldReport): void {
  if (!isISCSIName(name)) at.invalid(name, 'must be valid format');
}

function validateCinder(cinder: CinderPersistentVolumeSource, at: FieldReport): void {
  requireTexts(cinder, at, ['volumeID']);
  if (cinder.secretRef) requireTexts(cinder.secretRef, at.child('secretRef'), ['name', 'namespace']);
}

function validateAzureFile(azure: AzureFilePersistentVolumeSource, at: FieldReport): void {
  requireTexts(azure, at, ['secretName', 'shareName']);
  if (azure.secretNamespace === '') at.child('secretNamespace').required();
}

function validateStorageOS({ volumeName, volumeNamespace, secretRef }: StorageOSPersistentVolumeSource, at: FieldReport): void {
  if (volumeName) at.child('volumeName').problems(volumeName, checkDns1123Label(volumeName));
  else at.child('volumeName').required();
  if (volumeNamespace) at.child('volumeNamespace').problems(volumeNamespace, checkDns1123Label(volumeNamespace));
  if (secretRef) requireTexts(secretRef, at.child('secretRef'), ['name', 'namespace']);
}

function validateCSI(csi: CSIPersistentVolumeSource, at: FieldReport): void {
  validateCSIDriverName(csi.driver, at.child('driver'));
  requireTexts(csi, at, ['volumeHandle']);
  for (const name of ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const) {
    const reference = csi[name];
    if (reference) validateSecretReference(reference, at.child(name));
  }
}

function validateSecretReference({ name, namespace }: SecretReference, at: FieldReport): void {
  if (name) at.child('name').problems(name, checkDns1123Subdomain(name));
  else at.child('name').required();
  if (namespace) at.child('namespace').problems(namespace, checkDns1123Label(namespace));
  else at.child('namespace').required();
}

function validateRecycling({ hostPath, persistentVolumeReclaimPolicy }: PersistentVolumeSpec, at: FieldReport): void {
  if (persistentVolumeReclaimPolicy !== 'Recycle' || !hostPath || !/^\/[/.]*$/.test(hostPath.path ?? '')) return;
  at.child('persistentVolumeReclaimPolicy').forbidden("may not be 'recycle' for a hostPath mount of '/'");
}

function validateClassAndMode({ storageClassName, volumeMode }: PersistentVolumeSpec, at: FieldReport, { inline }: VolumeSpecRules): void {
  if (storageClassName) {
    if (inline) at.child('storageClassName').forbidden(`may not be specified ${INLINE}`);
    else at.child('storageClassName').problems(storageClassName, nameIsDnsSubdomain(storageClassName, false));
  }
  if (volumeMode === undefined) return;
  if (!inline) at.child('volumeMode').oneOf(volumeMode, VOLUME_MODES);
  else if (volumeMode !== 'Filesystem') at.child('volumeMode').forbidden(`may not specify volumeMode other than Filesystem ${INLINE}`);
}

function validateAttributesClass(
  { volumeAttributesClassName: name, csi }: PersistentVolumeSpec,
  at: FieldReport,
  { inline }: VolumeSpecRules,
): void {
  if (name === undefined || inline) return;
  if (name === '') at.child('volumeAttributesClassName').required('an empty string is disallowed');
  else at.child('volumeAttributesClassName').problems(name, nameIsDnsSubdomain(name, false));
  if (!csi) at.child('csi').required('has to be specified when using volumeAttributesClassName');
}
