import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { always, field, type Infer, listOf, mapOf, nullable, object, pointer, quantity, required, string } from '../../schema.ts';
import { TypedLocalObjectReference } from './typed-local-object-reference.ts';

export const VolumeResourceRequirements = object('io.k8s.api.core.v1.VolumeResourceRequirements', '', {
  limits: field(1, mapOf(quantity)),
  requests: field(2, mapOf(quantity)),
});
export type VolumeResourceRequirements = Infer<typeof VolumeResourceRequirements>;

export const TypedObjectReference = object('io.k8s.api.core.v1.TypedObjectReference', '', {
  apiGroup: nullable(1, string),
  kind: required(2, string),
  name: required(3, string),
  namespace: pointer(4, string),
});
export type TypedObjectReference = Infer<typeof TypedObjectReference>;

export const PersistentVolumeClaimSpec = object('io.k8s.api.core.v1.PersistentVolumeClaimSpec', '', {
  accessModes: field(1, listOf(string)),
  selector: pointer(4, LabelSelector),
  resources: always(2, VolumeResourceRequirements),
  volumeName: field(3, string),
  storageClassName: pointer(5, string),
  volumeMode: pointer(6, string),
  dataSource: pointer(7, TypedLocalObjectReference),
  dataSourceRef: pointer(8, TypedObjectReference),
  volumeAttributesClassName: pointer(9, string),
});
export type PersistentVolumeClaimSpec = Infer<typeof PersistentVolumeClaimSpec>;
