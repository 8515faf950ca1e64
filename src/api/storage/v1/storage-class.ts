import { TopologySelectorTerm } from '../../core/v1/topology-selector-term.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, kind, listOf, mapOf, pointer, required, string } from '../../schema.ts';

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
  '',
  {
    metadata: always(1, ObjectMeta),
    provisioner: required(2, string),
    parameters: field(3, mapOf(string)),
    reclaimPolicy: pointer(4, string),
    mountOptions: field(5, listOf(string)),
    allowVolumeExpansion: pointer(6, bool),
    volumeBindingMode: pointer(7, string),
    allowedTopologies: field(8, listOf(TopologySelectorTerm)),
  },
);
export type StorageClass = Infer<typeof StorageClass>;
