import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, int32, kind, listOf, mapListOf, object, pointer, required, string } from '../../schema.ts';

export const VolumeNodeResources = object('io.k8s.api.storage.v1.VolumeNodeResources', 'How many volumes a node can have.', {
  count: pointer(1, int32, 'How many; no bound when absent.'),
});
export type VolumeNodeResources = Infer<typeof VolumeNodeResources>;

export const CSINodeDriver = object('io.k8s.api.storage.v1.CSINodeDriver', 'A CSI driver on a node.', {
  name: required(1, string, 'The name.'),
  nodeID: required(2, string, 'What the driver calls the node.'),
  topologyKeys: always(3, listOf(string), 'Labels of the node that the driver sets.'),
  allocatable: pointer(4, VolumeNodeResources, 'How many volumes there can be.'),
});
export type CSINodeDriver = Infer<typeof CSINodeDriver>;

export const CSINodeSpec = object('io.k8s.api.storage.v1.CSINodeSpec', 'The CSI drivers of a node.', {
  drivers: required(1, mapListOf(CSINodeDriver, 'name'), 'The drivers.', { merge: 'name' }),
});
export type CSINodeSpec = Infer<typeof CSINodeSpec>;

export const CSINode = kind(
  {
    name: 'io.k8s.api.storage.v1.CSINode',
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'CSINode',
    resource: 'csinodes',
    namespaced: false,
  },
  'The CSI drivers of a node. Kept by its kubelet.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, CSINodeSpec, 'The drivers.'),
  },
);
export type CSINode = Infer<typeof CSINode>;
