import type { KindBehaviour } from '../../behaviour.ts';
import { defaultVolumeAttachment } from './volume-attachment.defaults.ts';
import { volumeAttachmentTable } from './volume-attachment.table.ts';
import { VolumeAttachment } from './volume-attachment.ts';
import { validateVolumeAttachment, validateVolumeAttachmentUpdate } from './volume-attachment.validation.ts';

export const volumeAttachmentBehaviour: KindBehaviour<VolumeAttachment> = {
  kind: VolumeAttachment,
  defaults: defaultVolumeAttachment,
  validate: validateVolumeAttachment,
  validateUpdate: validateVolumeAttachmentUpdate,
  table: volumeAttachmentTable,
};
