import { checkDns1123Label, goQuote, nameIsDnsSubdomain, Quantity } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { validateDownwardAPI, validateProjected } from './projected-volume.validation.ts';
import type { Volume } from './volume.ts';
import type { VolumeSource } from './volume-source.ts';
import * as sources from './volume-source.validation.ts';

export interface VolumeContext {
  /** The pod's metadata; absent for templates. */
  readonly podMeta?: ObjectMeta | undefined;
  readonly isPod: boolean;
}

/** The valid volumes by name, for validating mounts. */
export type ValidVolumes = ReadonlyMap<string, Volume>;

export function validateVolumes(volumes: readonly Volume[], at: FieldReport, context: VolumeContext): ValidVolumes {
  const valid = new Map<string, Volume>();
  const created = createdClaims(volumes, context);
  volumes.forEach((volume, i) => {
    const field = at.index(i);
    const before = at.errors.length;
    validateVolume(volume, field, context);
    if (valid.has(volume.name)) field.child('name').duplicate(volume.name);
    if (at.errors.length === before) valid.set(volume.name, volume);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim && created.has(claim)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      field.child('persistentVolumeClaim').child('claimName').invalid(claim, detail);
    }
  });
  return valid;
}

function createdClaims(volumes: readonly Volume[], { podMeta }: VolumeContext): ReadonlySet<string> {
  const created = new Set<string>();
  if (!podMeta?.name) return created;
  for (const volume of volumes) if (volume.ephemeral) created.add(`${podMeta.name}-${volume.name}`);
  return created;
}

function validateVolume(volume: Volume, at: FieldReport, context: VolumeContext): void {
  validateVolumeSource(volume, at, context);
  if (!volume.name) at.child('name').required();
  else at.child('name').problems(volume.name, checkDns1123Label(volume.name));
}

interface SourceRule {
  readonly source: keyof VolumeSource;
  readonly validate: (volume: Volume, at: FieldReport, context: VolumeContext) => void;
  /** The path of the error about excess sources, if it is not the source's name. */
  readonly extraName?: string;
  /** The source's name in error paths, if it differs. */
  readonly pathName?: string;
}

function rule<K extends keyof VolumeSource>(
  source: K,
  validate: (value: NonNullable<VolumeSource[K]>, at: FieldReport, context: VolumeContext) => void,
  names: Pick<SourceRule, 'extraName' | 'pathName'> = {},
): SourceRule {
  return { source, validate: (volume, at, context) => validate(volume[source] as NonNullable<VolumeSource[K]>, at, context), ...names };
}

// In upstream's order: the first source is validated, others are excess. Unusual path names are upstream's.
const RULES: readonly SourceRule[] = [
  rule('emptyDir', ({ sizeLimit }, at) => {
    if (sizeLimit === undefined || Quantity.parse(sizeLimit).sign >= 0) return;
    at.child('sizeLimit').forbidden('SizeLimit field must be a valid resource quantity');
  }),
  rule('hostPath', sources.validateHostPath),
  rule('gitRepo', sources.validateGitRepo),
  rule('gcePersistentDisk', sources.validateGCEPersistentDisk, { pathName: 'persistentDisk' }),
  rule('awsElasticBlockStore', sources.validateAWSElasticBlockStore),
  rule('secret', sources.validateSecret),
  rule('nfs', sources.validateNFS),
  rule('iscsi', sources.validateISCSI),
  rule('glusterfs', (source, at) => sources.requireTexts(source, at, ['endpoints', 'path'])),
  rule('flocker', sources.validateFlocker),
  rule('persistentVolumeClaim', (source, at) => sources.requireTexts(source, at, ['claimName'])),
  rule('rbd', (source, at) => {
    sources.requireMonitors(source, at);
    sources.requireTexts(source, at, ['image']);
  }),
  rule('cinder', (source, at) => {
    sources.requireTexts(source, at, ['volumeID']);
    sources.requireSecretName(source.secretRef, at);
  }),
  rule('cephfs', sources.requireMonitors, { extraName: 'cephFS' }),
  rule('quobyte', sources.validateQuobyte),
  rule('downwardAPI', validateDownwardAPI, { extraName: 'downwarAPI' }),
  rule('fc', sources.validateFC),
  rule('flexVolume', sources.validateFlexVolume),
  rule('configMap', sources.validateConfigMap),
  rule('azureFile', (source, at) => sources.requireTexts(source, at, ['secretName', 'shareName'])),
  rule('vsphereVolume', (source, at) => sources.requireTexts(source, at, ['volumePath'])),
  rule('photonPersistentDisk', (source, at) => sources.requireTexts(source, at, ['pdID'])),
  rule('portworxVolume', (source, at) => sources.requireTexts(source, at, ['volumeID'])),
  rule('azureDisk', sources.validateAzureDisk),
  rule('storageos', sources.validateStorageOS),
  rule('projected', validateProjected),
  rule('scaleIO', (source, at) => sources.requireTexts(source, at, ['gateway', 'system', 'volumeName'])),
  rule('csi', sources.validateCSI),
  rule('ephemeral', sources.validateEphemeral),
  rule('image', sources.validateImage),
];

function validateVolumeSource(volume: Volume, at: FieldReport, context: VolumeContext): void {
  let hasSource = false;
  for (const { source, validate, extraName = source, pathName = source } of RULES) {
    if (!volume[source]) continue;
    if (hasSource) at.child(extraName).forbidden('may not specify more than 1 volume type');
    else validate(volume, at.child(pathName), context);
    if (source === 'iscsi') validateISCSILength(volume, at);
    if (source === 'ephemeral' && !hasSource) validateClaimName(volume, at, context);
    hasSource = true;
  }
  if (!hasSource) at.required('must specify a volume type');
}

function validateISCSILength({ name, iscsi }: Volume, at: FieldReport): void {
  if (iscsi?.initiatorName === undefined || Buffer.byteLength(`${name}:${iscsi.targetPortal}`) <= 64) return;
  const detail = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  at.child('name').invalid(name ?? '', detail);
}

function validateClaimName({ name }: Volume, at: FieldReport, { podMeta }: VolumeContext): void {
  if (!podMeta?.name || !name) return;
  const claim = `${podMeta.name}-${name}`;
  at.child('name').problems(
    name,
    nameIsDnsSubdomain(claim, false).map((problem) => `PVC name ${goQuote(claim)}: ${problem}`),
  );
}
