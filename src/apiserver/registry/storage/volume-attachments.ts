import { storage } from '#api';
import { withKeptMetadata } from '../generic/kept-metadata.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const volumeAttachmentsStrategy: ResourceStrategy<storage.VolumeAttachment> = {
  ...storage.volumeAttachmentBehaviour,
  hasStatus: true,
  allowUnconditionalUpdate: false,
  prepareForStatusUpdate: withKeptMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  returnsDeletedObject: true,
};
