import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, pointer, quantity, required, string } from '../../schema.ts';

export const CSIStorageCapacity = kind(
  {
    name: 'io.k8s.api.storage.v1.CSIStorageCapacity',
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'CSIStorageCapacity',
    resource: 'csistoragecapacities',
    namespaced: true,
  },
  'How much storage of a class is left in a region.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    nodeTopology: pointer(2, LabelSelector, 'Labels of the nodes that can reach it. Cannot be changed.'),
    storageClassName: required(3, string, 'The class. Cannot be changed.'),
    capacity: pointer(4, quantity, 'How much is left.'),
    maximumVolumeSize: pointer(5, quantity, 'How large a single volume can be.'),
  },
);
export type CSIStorageCapacity = Infer<typeof CSIStorageCapacity>;
