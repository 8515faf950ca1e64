import { LabelSelector } from '../../../meta/v1/label-selector.ts';
import { always, field, type Infer, listOf, mapOf, named, nullable, object, pointer, quantity, required, string } from '../../../schema.ts';
import { TypedLocalObjectReference } from '../reference/typed-local-object-reference.ts';

export const VolumeResourceRequirements = object('io.k8s.api.core.v1.VolumeResourceRequirements', 'How much storage is wanted.', {
  limits: field(1, mapOf(quantity), 'The most, by resource.'),
  requests: field(2, mapOf(quantity), 'The least, by resource.'),
});
export type VolumeResourceRequirements = Infer<typeof VolumeResourceRequirements>;

export const TypedObjectReference = object('io.k8s.api.core.v1.TypedObjectReference', 'An object.', {
  apiGroup: nullable(1, string, "The API group; '' for the core group."),
  kind: required(2, string, 'The kind.'),
  name: required(3, string, 'The name.'),
  namespace: pointer(4, string, 'The namespace.'),
});
export type TypedObjectReference = Infer<typeof TypedObjectReference>;

export const PersistentVolumeClaimSpec = object('io.k8s.api.core.v1.PersistentVolumeClaimSpec', 'What storage is wanted.', {
  accessModes: field(
    1,
    listOf(named('v1.PersistentVolumeAccessMode')),
    'How the volume may be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod.',
  ),
  selector: pointer(4, LabelSelector, 'Labels that a volume must have to be chosen.'),
  resources: always(2, VolumeResourceRequirements, 'How much storage is wanted. It may be raised later if the class allows.'),
  volumeName: field(3, string, 'The volume that the claim is bound to, or must be bound to.'),
  storageClassName: pointer(5, string, "The class of storage; '' asks for none, absence for the default class."),
  volumeMode: pointer(6, named('v1.PersistentVolumeMode'), 'Filesystem, or Block for a raw device.'),
  dataSource: pointer(7, TypedLocalObjectReference, 'What the volume is filled with: a snapshot or another claim.'),
  dataSourceRef: pointer(8, TypedObjectReference, 'What the volume is filled with: an object of any kind that a populator understands.'),
  volumeAttributesClassName: pointer(9, string, 'The VolumeAttributesClass that the volume is to have.'),
});
export type PersistentVolumeClaimSpec = Infer<typeof PersistentVolumeClaimSpec>;
