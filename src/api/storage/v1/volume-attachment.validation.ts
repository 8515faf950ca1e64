import { type FieldError, inclusiveRangeText, nameIsDnsSubdomain, Path } from '#machinery';
import { validatePersistentVolumeSpec } from '../../core/v1/persistent-volume/persistent-volume-spec.validation.ts';
import { validateCSIDriverName } from '../../core/v1/volume/volume-source.validation.ts';
import { immutable } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import { type VolumeAttachment, type VolumeAttachmentSource, VolumeAttachmentSpec, type VolumeError } from './volume-attachment.ts';

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;
const MAX_INT32 = 2 ** 31 - 1;
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validateVolumeAttachment({ metadata, spec, status }: VolumeAttachment): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  const at = FieldReport.on(SPEC, errors);
  validateCSIDriverName(spec?.attacher, at.child('attacher'));
  validateSource(spec?.source ?? {}, at.child('source'));
  at.child('nodeName').problems(spec?.nodeName ?? '', nameIsDnsSubdomain(spec?.nodeName ?? '', false));
  const statusAt = FieldReport.on(Path.of('status'), errors);
  validateMetadata(status?.attachmentMetadata ?? {}, statusAt.child('attachmentMetadata'));
  if (status?.attachError) validateError(status.attachError, statusAt.child('attachError'));
  if (status?.detachError) validateError(status.detachError, statusAt.child('detachError'));
  const volumeName = spec?.source?.persistentVolumeName;
  if (volumeName !== undefined) {
    FieldReport.on(Path.of('spec.source.persistentVolumeName'), errors).problems(volumeName, nameIsDnsSubdomain(volumeName, false));
  }
  return errors;
}

function validateSource({ persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource, at: FieldReport): void {
  const rule = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (!inline && name === undefined) at.required(rule);
  else if (inline && name !== undefined) at.forbidden(rule);
  else if (name === '') at.child('persistentVolumeName').required('must specify non empty persistentVolumeName');
  else if (inline) validatePersistentVolumeSpec(inline, at.child('inlineVolumeSpec'), { name: '', inline: true });
}

function validateMetadata(metadata: Readonly<Record<string, string>>, at: FieldReport): void {
  const size = Object.entries(metadata).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > MAX_METADATA_BYTES) at.tooLong(MAX_METADATA_BYTES);
}

/** The limit in the message differs from the actual limit, as upstream. */
function validateError({ message = '', errorCode }: VolumeError, at: FieldReport): void {
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) at.child('message').tooLong(MAX_METADATA_BYTES);
  if (errorCode !== undefined && errorCode < 0) at.child('errorCode').invalid(errorCode, inclusiveRangeText(0, MAX_INT32));
}

export function validateVolumeAttachmentUpdate(attachment: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  const value = attachment.spec;
  return [
    ...validateVolumeAttachment(attachment),
    ...immutable(SPEC, { value, old: old.spec, printed: goStruct(VolumeAttachmentSpec, value) }),
  ];
}
