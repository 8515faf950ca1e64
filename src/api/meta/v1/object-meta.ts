import {
  anyObject,
  atomic,
  bool,
  field,
  type Infer,
  int64,
  listOf,
  mapListOf,
  mapOf,
  named,
  object,
  pointer,
  required,
  setOf,
  string,
  time,
} from '../../schema.ts';

export const OwnerReference = atomic(
  object('io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference', 'An object that another belongs to.', {
    apiVersion: required(5, string, 'The API version of the owner.'),
    kind: required(1, string, 'The kind of the owner.'),
    name: required(3, string, 'The name of the owner.'),
    uid: required(4, named('types.UID'), 'The id of the owner.'),
    controller: pointer(6, bool, 'Whether the owner is the controller of the object.'),
    blockOwnerDeletion: pointer(7, bool, 'Whether the owner waits, in foreground deletion, for this object to go.'),
  }),
);
export type OwnerReference = Infer<typeof OwnerReference>;

export const ManagedFieldsEntry = object('io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry', 'Fields that one manager set.', {
  manager: field(1, string, 'Who set them.'),
  operation: field(2, named('v1.ManagedFieldsOperationType'), 'Apply or Update.'),
  apiVersion: field(3, string, 'The version that the fields are written in.'),
  time: pointer(4, time, 'When they were last changed.'),
  fieldsType: field(6, string, 'How they are written: FieldsV1.'),
  fieldsV1: pointer(7, anyObject('io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1'), 'The fields.'),
  subresource: field(8, string, 'The subresource through which they were set.'),
});
export type ManagedFieldsEntry = Infer<typeof ManagedFieldsEntry>;

export const ObjectMeta = object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  'What every object has: names, labels, and what the system notes.',
  {
    name: field(1, string, 'The name, unique among objects of the kind in its namespace. Cannot be changed.'),
    generateName: field(2, string, 'A prefix; the server appends something unique when there is no name.'),
    namespace: field(3, string, 'The namespace that the object is in. Cannot be changed.'),
    selfLink: field(4, string, 'No longer filled in.'),
    uid: field(5, named('types.UID'), 'An id that no other object ever has.'),
    resourceVersion: field(6, string, 'The version of the object: changes with every write. An update that names an old one is refused.'),
    generation: field(7, int64, 'Grows when what is wanted changes.'),
    creationTimestamp: field(8, time, 'When the object was created.'),
    deletionTimestamp: pointer(9, time, 'When the object is to be gone. Set when deletion is asked for.'),
    deletionGracePeriodSeconds: pointer(10, int64, 'How long the object has to end in good order.'),
    labels: field(11, mapOf(string), 'Keys and values to tell objects apart and select them by.'),
    annotations: field(12, mapOf(string), 'Keys and values for anything else. Not selected by.'),
    ownerReferences: field(13, mapListOf(OwnerReference, 'uid'), 'Objects that this one belongs to: when all are gone, it goes too.', {
      merge: 'uid',
    }),
    finalizers: field(14, setOf(string), 'Who must clean up before the object is gone.', { merge: '' }),
    managedFields: field(17, listOf(ManagedFieldsEntry), 'Which fields were set by whom. Kept by the server.'),
  },
);
export type ObjectMeta = Infer<typeof ObjectMeta>;
