import { PersistentVolumeSpec } from '../../core/v1/persistent-volume/persistent-volume-spec.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, int32, kind, mapOf, object, pointer, required, string, time } from '../../schema.ts';

export const VolumeAttachmentSource = object('io.k8s.api.storage.v1.VolumeAttachmentSource', 'The volume to attach.', {
  persistentVolumeName: pointer(1, string, 'The persistent volume.'),
  inlineVolumeSpec: pointer(2, PersistentVolumeSpec, 'A volume that is part of a pod, brought into the form of a persistent one.'),
});
export type VolumeAttachmentSource = Infer<typeof VolumeAttachmentSource>;

export const VolumeAttachmentSpec = object('io.k8s.api.storage.v1.VolumeAttachmentSpec', 'The volume, the node and the attacher.', {
  attacher: required(1, string, 'The driver that does it.'),
  source: required(2, VolumeAttachmentSource, 'The volume.'),
  nodeName: required(3, string, 'The node.'),
});
export type VolumeAttachmentSpec = Infer<typeof VolumeAttachmentSpec>;

export const VolumeError = object('io.k8s.api.storage.v1.VolumeError', 'An error with a volume.', {
  time: always(1, time, 'When it happened.'),
  message: field(2, string, 'Why, in words.'),
  errorCode: pointer(3, int32, 'The code that the driver gave.'),
});
export type VolumeError = Infer<typeof VolumeError>;

export const VolumeAttachmentStatus = object('io.k8s.api.storage.v1.VolumeAttachmentStatus', 'The state of the attachment.', {
  attached: required(1, bool, 'Whether the volume is attached.'),
  attachmentMetadata: field(2, mapOf(string), 'What the driver needs for mounting.'),
  attachError: pointer(3, VolumeError, 'The last error while attaching.'),
  detachError: pointer(4, VolumeError, 'The last error while detaching.'),
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
  'Attaches a volume to a node, or detaches it.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, VolumeAttachmentSpec, 'What is wanted.'),
    status: always(3, VolumeAttachmentStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type VolumeAttachment = Infer<typeof VolumeAttachment>;
