import { BOOL, DYN, INT, listType, mapType, objectType, STRING, TIMESTAMP } from './types.ts';

const GROUP_VERSION_KIND = objectType('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const GROUP_VERSION_RESOURCE = objectType('kubernetes.GroupVersionResource', { group: STRING, version: STRING, resource: STRING });
const USER_INFO = objectType('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listType(STRING),
  extra: mapType(STRING, listType(STRING)),
});

/** The type of `request` in the expressions of policies and webhooks. */
export const ADMISSION_REQUEST_TYPE = objectType('kubernetes.AdmissionRequest', {
  kind: GROUP_VERSION_KIND,
  resource: GROUP_VERSION_RESOURCE,
  subResource: STRING,
  requestKind: GROUP_VERSION_KIND,
  requestResource: GROUP_VERSION_RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER_INFO,
  dryRun: BOOL,
  options: DYN,
});

const NAMESPACE_METADATA = objectType('kubernetes.NamespaceMetadata', {
  name: STRING,
  generateName: STRING,
  namespace: STRING,
  labels: mapType(STRING, STRING),
  annotations: mapType(STRING, STRING),
  UID: STRING,
  creationTimestamp: TIMESTAMP,
  deletionGracePeriodSeconds: INT,
  deletionTimestamp: TIMESTAMP,
  generation: INT,
  resourceVersion: STRING,
  finalizers: listType(STRING),
});
const NAMESPACE_CONDITION = objectType('kubernetes.NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});

/** The type of `namespaceObject` in the expressions of policies. */
export const NAMESPACE_OBJECT_TYPE = objectType('kubernetes.Namespace', {
  metadata: NAMESPACE_METADATA,
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: listType(STRING) }),
  status: objectType('kubernetes.NamespaceStatus', { conditions: listType(NAMESPACE_CONDITION), phase: STRING }),
});
