import { defaultPersistentVolumeSpec } from '../../core/v1/persistent-volume/persistent-volume.defaults.ts';
import { mapField } from '../../defaulting.ts';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentSpec } from './volume-attachment.ts';

export function defaultVolumeAttachment(attachment: VolumeAttachment): VolumeAttachment {
  return mapField(attachment, 'spec', (spec: VolumeAttachmentSpec) =>
    mapField(spec, 'source', (source: VolumeAttachmentSource) => mapField(source, 'inlineVolumeSpec', defaultPersistentVolumeSpec)),
  );
}
