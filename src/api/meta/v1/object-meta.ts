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
  object('io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference', 'A reference to an owner of this object.', {
    apiVersion: required(5, string, 'The API version of the owner.'),
    kind: required(1, string, 'The kind of the owner.'),
    name: required(3, string, 'The name of the owner.'),
    uid: required(4, named('types.UID'), 'The UID of the owner.'),
    controller: pointer(6, bool, 'Whether the owner is the controller of the object.'),
    blockOwnerDeletion: pointer(7, bool, 'Whether foreground deletion of the owner waits until this object is deleted.'),
  }),
);
export type OwnerReference = Infer<typeof OwnerReference>;

export const ManagedFieldsEntry = object('io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry', 'The fields that one manager set.', {
  manager: field(1, string, 'The manager that set them.'),
  operation: field(2, named('v1.ManagedFieldsOperationType'), 'Apply or Update.'),
  apiVersion: field(3, string, 'The API version of the fields.'),
  time: pointer(4, time, 'When they were last changed.'),
  fieldsType: field(6, string, 'The format of the fields: FieldsV1.'),
  fieldsV1: pointer(7, anyObject('io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1'), 'The fields.'),
  subresource: field(8, string, 'The subresource through which they were set.'),
});
export type ManagedFieldsEntry = Infer<typeof ManagedFieldsEntry>;

export const ObjectMeta = object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  'Metadata that every persisted object has: identity, labels, ownership and life cycle.',
  {
    name: field(1, string, 'Name is unique among objects of the kind within a namespace. Cannot be updated.'),
    generateName: field(2, string, 'GenerateName is a prefix to which the server appends a unique suffix if no name is given.'),
    namespace: field(3, string, 'Namespace in which the object is. Cannot be updated.'),
    selfLink: field(4, string, 'Deprecated: no longer set by the system.'),
    uid: field(5, named('types.UID'), 'UID is unique in time and space. Set by the server.'),
    resourceVersion: field(6, string, 'ResourceVersion changes with every write. An update with an older one is refused with a conflict.'),
    generation: field(7, int64, 'Generation is incremented when the desired state changes. Set by the server.'),
    creationTimestamp: field(8, time, 'CreationTimestamp is a timestamp of the time at which the server created the object.'),
    deletionTimestamp: pointer(
      9,
      time,
      'DeletionTimestamp is the time at which the object is due to be deleted. Set on a graceful deletion.',
    ),
    deletionGracePeriodSeconds: pointer(10, int64, 'Seconds the object has to terminate gracefully before it is removed.'),
    labels: field(11, mapOf(string), 'Labels are keys and values by which objects are organized and selected.'),
    annotations: field(12, mapOf(string), 'Annotations are keys and values of arbitrary metadata. They cannot be selected by.'),
    ownerReferences: field(
      13,
      mapListOf(OwnerReference, 'uid'),
      'Owners of this object. It is garbage collected when all have been deleted.',
      {
        merge: 'uid',
      },
    ),
    finalizers: field(14, setOf(string), 'Finalizers must all be removed before the object is deleted from the registry.', { merge: '' }),
    managedFields: field(17, listOf(ManagedFieldsEntry), 'ManagedFields lists the fields that each manager set. Maintained by the server.'),
  },
);
export type ObjectMeta = Infer<typeof ObjectMeta>;
