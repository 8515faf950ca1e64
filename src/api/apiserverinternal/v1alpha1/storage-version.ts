import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  int64,
  kind,
  mapListOf,
  named,
  nullable,
  object,
  pointer,
  required,
  setOf,
  string,
  time,
} from '../../schema.ts';

export const ServerStorageVersion = object('io.k8s.api.apiserverinternal.v1alpha1.ServerStorageVersion', 'What one API server stores.', {
  apiServerID: field(1, string, 'The server.', { required: true }),
  encodingVersion: field(2, string, 'The version in which it writes objects.', { required: true }),
  decodableVersions: field(3, setOf(string), 'Versions that it can read; the one above is among them.', { required: true }),
  servedVersions: field(4, setOf(string), 'Versions that it serves, each of which it can read.'),
});
export type ServerStorageVersion = Infer<typeof ServerStorageVersion>;

export const StorageVersionCondition = object('io.k8s.api.apiserverinternal.v1alpha1.StorageVersionCondition', 'One finding.', {
  type: required(1, named('v1alpha1.StorageVersionConditionType'), 'AllEncodingVersionsEqual.'),
  status: required(2, named('v1alpha1.ConditionStatus'), 'True, False or Unknown.'),
  observedGeneration: field(3, int64, 'The generation of the object that the finding is about.'),
  lastTransitionTime: nullable(4, time, 'When the status last changed.'),
  reason: required(5, string, 'Why, as one CamelCase word.'),
  message: field(6, string, 'Why, in words.', { required: true }),
});
export type StorageVersionCondition = Infer<typeof StorageVersionCondition>;

export const StorageVersionStatus = object('io.k8s.api.apiserverinternal.v1alpha1.StorageVersionStatus', 'What the servers store.', {
  storageVersions: field(1, mapListOf(ServerStorageVersion, 'apiServerID'), 'What each server stores.'),
  commonEncodingVersion: pointer(2, string, 'The version in which all servers write, if they agree.'),
  conditions: field(3, mapListOf(StorageVersionCondition, 'type'), 'Whether the servers agree.'),
});
export type StorageVersionStatus = Infer<typeof StorageVersionStatus>;

export const StorageVersion = kind(
  {
    name: 'io.k8s.api.apiserverinternal.v1alpha1.StorageVersion',
    group: 'internal.apiserver.k8s.io',
    version: 'v1alpha1',
    kind: 'StorageVersion',
    resource: 'storageversions',
    namespaced: false,
  },
  'In which version the API servers store a resource.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata. The name is group.resource.", { required: true }),
    spec: always(2, object('io.k8s.api.apiserverinternal.v1alpha1.StorageVersionSpec', 'Nothing yet.', {}), 'Nothing yet.'),
    status: always(3, StorageVersionStatus, 'What the servers store.'),
  },
);
export type StorageVersion = Infer<typeof StorageVersion>;
