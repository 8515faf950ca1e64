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
  object,
  pointer,
  required,
  setOf,
  string,
  time,
} from '../../schema.ts';

export const OwnerReference = atomic(
  object('io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference', '', {
    apiVersion: required(5, string),
    kind: required(1, string),
    name: required(3, string),
    uid: required(4, string),
    controller: pointer(6, bool),
    blockOwnerDeletion: pointer(7, bool),
  }),
);
export type OwnerReference = Infer<typeof OwnerReference>;

export const ManagedFieldsEntry = object('io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry', '', {
  manager: field(1, string),
  operation: field(2, string),
  apiVersion: field(3, string),
  time: pointer(4, time),
  fieldsType: field(6, string),
  fieldsV1: pointer(7, anyObject('io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1')),
  subresource: field(8, string),
});
export type ManagedFieldsEntry = Infer<typeof ManagedFieldsEntry>;

export const ObjectMeta = object('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', '', {
  name: field(1, string),
  generateName: field(2, string),
  namespace: field(3, string),
  selfLink: field(4, string),
  uid: field(5, string),
  resourceVersion: field(6, string),
  generation: field(7, int64),
  creationTimestamp: field(8, time),
  deletionTimestamp: pointer(9, time),
  deletionGracePeriodSeconds: pointer(10, int64),
  labels: field(11, mapOf(string)),
  annotations: field(12, mapOf(string)),
  ownerReferences: field(13, mapListOf(OwnerReference, 'uid'), '', { merge: 'uid' }),
  finalizers: field(14, setOf(string), '', { merge: '' }),
  managedFields: field(17, listOf(ManagedFieldsEntry)),
});
export type ObjectMeta = Infer<typeof ObjectMeta>;
