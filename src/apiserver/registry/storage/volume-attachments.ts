import { storage } from '#api';
import { keepMetadata } from '../generic/keep-metadata.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const volumeAttachmentsStrategy: ResourceStrategy<storage.VolumeAttachment> = {
  ...storage.volumeAttachmentBehaviour,
  hasStatus: true,
  allowUnconditionalUpdate: false,
  prepareForStatusUpdate: keepMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  returnsDeletedObject: true,
};
