import { TopologySelectorTerm } from '../../core/v1/node-selector/topology-selector-term.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, kind, listOf, mapOf, named, pointer, required, string } from '../../schema.ts';

export const StorageClass = kind(
  {
    name: 'io.k8s.api.storage.v1.StorageClass',
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'StorageClass',
    resource: 'storageclasses',
    namespaced: false,
    shortNames: ['sc'],
  },
  'A kind of storage, and how volumes of it are made.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    provisioner: required(2, string, 'Who makes the volumes.'),
    parameters: field(3, mapOf(string), 'Parameters of the provisioner.'),
    reclaimPolicy: pointer(
      4,
      named('v1.PersistentVolumeReclaimPolicy'),
      'What happens when the claim is deleted: Delete (the default) or Retain.',
    ),
    mountOptions: field(5, listOf(string), 'Options for mounting, such as ro or soft.'),
    allowVolumeExpansion: pointer(6, bool, 'Whether volumes can be made larger.'),
    volumeBindingMode: pointer(
      7,
      named('v1.VolumeBindingMode'),
      'Immediate (the default), or WaitForFirstConsumer to choose the place with the pod.',
    ),
    allowedTopologies: field(8, listOf(TopologySelectorTerm), 'Where volumes may be made.'),
  },
);
export type StorageClass = Infer<typeof StorageClass>;
