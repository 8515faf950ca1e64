import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, mapOf, required, string } from '../../schema.ts';

export const VolumeAttributesClass = kind(
  {
    name: 'io.k8s.api.storage.v1.VolumeAttributesClass',
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'VolumeAttributesClass',
    resource: 'volumeattributesclasses',
    namespaced: false,
    shortNames: ['vac'],
  },
  'A set of attributes that volumes can be given, and change to.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    driverName: required(2, string, 'The driver. Cannot be changed.'),
    parameters: field(3, mapOf(string), 'The attributes. Cannot be changed.'),
  },
);
export type VolumeAttributesClass = Infer<typeof VolumeAttributesClass>;
