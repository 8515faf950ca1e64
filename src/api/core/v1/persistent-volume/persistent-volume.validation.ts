import { checkLabelValue, diffText, type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable, sameValue } from '../../../field-checks.ts';
import { FieldReport } from '../../../field-report.ts';
import { goStruct } from '../../../go-struct.ts';
import { FIELD_IS_IMMUTABLE, METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import type { NodeSelector } from '../node-selector/node-selector.ts';
import type { PersistentVolume } from './persistent-volume.ts';
import { PersistentVolumeSource, VolumeNodeAffinity } from './persistent-volume-spec.ts';
import { validatePersistentVolumeSpec } from './persistent-volume-spec.validation.ts';

const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';
/** Volume types that support the deprecated mount options annotation. */
const MOUNTABLE = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const;
/** Renamed labels: node affinities may be migrated. */
const RENAMED_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
]);
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validatePersistentVolume(volume: PersistentVolume): FieldError[] {
  return [...validateVolume(volume, false), ...validateMountOptions(volume)];
}

function validateVolume({ metadata, spec }: PersistentVolume, allowInvalidValues: boolean): FieldError[] {
  const report = FieldReport.on(SPEC, validateObjectMeta(metadata, META));
  validatePersistentVolumeSpec(spec ?? {}, report, { name: metadata.name, allowInvalidValues });
  return report.errors;
}

function validateMountOptions({ metadata, spec }: PersistentVolume): FieldError[] {
  if (metadata.annotations?.[MOUNT_OPTIONS] === undefined || MOUNTABLE.some((source) => spec?.[source])) return [];
  const at = FieldReport.on(METADATA.child('annotations', MOUNT_OPTIONS));
  at.forbidden('may not specify mount options for this volume type');
  return at.errors;
}

/** Upstream validates the volume twice; duplicate causes in its responses appear here too. */
export function validatePersistentVolumeUpdate(volume: PersistentVolume, old: PersistentVolume): FieldError[] {
  const allowInvalidValues = hasInvalidNodeSelectorValue(old.spec?.nodeAffinity?.required);
  return [
    ...validateVolume(volume, allowInvalidValues),
    ...validateMountOptions(volume),
    ...validateVolume(volume, allowInvalidValues),
    ...validateSourceUpdate(volume, old),
    ...immutable(Path.of('volumeMode'), { value: volume.spec?.volumeMode, old: old.spec?.volumeMode }),
    ...validateAffinityUpdate(volume, old),
    ...validateAttributesClassUpdate(volume, old),
  ];
}

function sourceOf({ spec }: PersistentVolume): Readonly<Record<string, unknown>> {
  const names = PersistentVolumeSource.fields.map(({ name }) => name);
  const fields = spec as Readonly<Record<string, unknown>> | undefined;
  return Object.fromEntries(names.flatMap((name) => (fields?.[name] === undefined ? [] : [[name, fields[name]]])));
}

function validateSourceUpdate(volume: PersistentVolume, old: PersistentVolume): FieldError[] {
  const before = sourceOf(old);
  const after = sourceOf(maySetExpandSecret(volume, old));
  if (sameValue(before, after)) return [];
  const at = FieldReport.on(SPEC.child('persistentvolumesource'));
  const difference = diffText(goStruct(PersistentVolumeSource, before), goStruct(PersistentVolumeSource, after));
  at.forbidden(`spec.persistentvolumesource is immutable after creation\n${difference}`);
  return at.errors;
}

/** controllerExpandSecretRef may be added later. */
function maySetExpandSecret(volume: PersistentVolume, old: PersistentVolume): PersistentVolume {
  const csi = volume.spec?.csi;
  if (!csi?.controllerExpandSecretRef || !old.spec?.csi || old.spec.csi.controllerExpandSecretRef) return volume;
  const { controllerExpandSecretRef: _, ...rest } = csi;
  return { ...volume, spec: { ...volume.spec, csi: rest } };
}

function validateAffinityUpdate({ spec }: PersistentVolume, { spec: before }: PersistentVolume): FieldError[] {
  const old = before?.nodeAffinity;
  if (!old) return [];
  const affinity = spec?.nodeAffinity;
  if (sameValue(affinity, withRenamedLabels(old, affinity))) return [];
  const at = FieldReport.on(Path.of('nodeAffinity'));
  at.invalid(goStruct(VolumeNodeAffinity, affinity), `${FIELD_IS_IMMUTABLE}, except for updating from beta label to GA`);
  return at.errors;
}

/** The old affinity, with renamed those deprecated labels that the new one has renamed. */
function withRenamedLabels(old: VolumeNodeAffinity, current: VolumeNodeAffinity | undefined): VolumeNodeAffinity {
  if (!old.required?.nodeSelectorTerms) return old;
  const terms = old.required.nodeSelectorTerms.map((term, i) => {
    const now = current?.required?.nodeSelectorTerms?.[i]?.matchExpressions;
    if (!term.matchExpressions) return term;
    const matchExpressions = term.matchExpressions.map((requirement, j) => {
      const renamed = RENAMED_LABELS.get(requirement.key);
      return renamed !== undefined && now?.[j]?.key === renamed ? { ...requirement, key: renamed } : requirement;
    });
    return { ...term, matchExpressions };
  });
  return { required: { nodeSelectorTerms: terms } };
}

function validateAttributesClassUpdate({ spec }: PersistentVolume, { spec: before }: PersistentVolume): FieldError[] {
  if (before?.volumeAttributesClassName === undefined || spec?.volumeAttributesClassName !== undefined) return [];
  const at = FieldReport.on(SPEC.child('volumeAttributesClassName'));
  at.forbidden('update from non-nil value to nil is forbidden');
  return at.errors;
}

export function validatePersistentVolumeStatusUpdate(volume: PersistentVolume, old: PersistentVolume): FieldError[] {
  return validateObjectMetaUpdate(volume.metadata, old.metadata);
}

/** Whether a stored volume has values that newer rules would reject. */
function hasInvalidNodeSelectorValue(selector: NodeSelector | undefined): boolean {
  const requirements = (selector?.nodeSelectorTerms ?? []).flatMap(({ matchExpressions = [] }) => matchExpressions);
  return requirements.some(({ values = [] }) => values.some((value) => checkLabelValue(value).length > 0));
}
