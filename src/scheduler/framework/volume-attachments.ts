import type { storage } from '#api';

/** Finds volume attachments by the name of their node. */
export const ATTACHMENTS_BY_NODE = 'nodeName';

export function nodeOfAttachment({ spec }: storage.VolumeAttachment): readonly string[] {
  return [spec.nodeName];
}
