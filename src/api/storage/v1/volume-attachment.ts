import { PersistentVolumeSpec } from '../../core/v1/persistent-volume-spec.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, int32, kind, mapOf, object, pointer, required, string, time } from '../../schema.ts';

export const VolumeAttachmentSource = object('io.k8s.api.storage.v1.VolumeAttachmentSource', '', {
  persistentVolumeName: pointer(1, string),
  inlineVolumeSpec: pointer(2, PersistentVolumeSpec),
});
export type VolumeAttachmentSource = Infer<typeof VolumeAttachmentSource>;

export const VolumeAttachmentSpec = object('io.k8s.api.storage.v1.VolumeAttachmentSpec', '', {
  attacher: required(1, string),
  source: required(2, VolumeAttachmentSource),
  nodeName: required(3, string),
});
export type VolumeAttachmentSpec = Infer<typeof VolumeAttachmentSpec>;

export const VolumeError = object('io.k8s.api.storage.v1.VolumeError', '', {
  time: always(1, time),
  message: field(2, string),
  errorCode: pointer(3, int32),
});
export type VolumeError = Infer<typeof VolumeError>;

export const VolumeAttachmentStatus = object('io.k8s.api.storage.v1.VolumeAttachmentStatus', '', {
  attached: required(1, bool),
  attachmentMetadata: field(2, mapOf(string)),
  attachError: pointer(3, VolumeError),
  detachError: pointer(4, VolumeError),
});
export type VolumeAttachmentStatus = Infer<typeof VolumeAttachmentStatus>;

export const VolumeAttachment = kind(
  {
    name: 'io.k8s.api.storage.v1.VolumeAttachment',
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'VolumeAttachment',
    resource: 'volumeattachments',
    namespaced: false,
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: required(2, VolumeAttachmentSpec),
    status: always(3, VolumeAttachmentStatus),
  },
);
export type VolumeAttachment = Infer<typeof VolumeAttachment>;
