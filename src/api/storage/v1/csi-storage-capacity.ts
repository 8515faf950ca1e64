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
  '',
  {
    metadata: always(1, ObjectMeta),
    nodeTopology: pointer(2, LabelSelector),
    storageClassName: required(3, string),
    capacity: pointer(4, quantity),
    maximumVolumeSize: pointer(5, quantity),
  },
);
export type CSIStorageCapacity = Infer<typeof CSIStorageCapacity>;
