import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bool,
  bytes,
  field,
  type Infer,
  int32,
  kind,
  mapListOf,
  named,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const ServiceReference = object(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference',
  'A service that serves an API.',
  {
    namespace: field(1, string, 'The namespace.'),
    name: field(2, string, 'The name.'),
    port: pointer(3, int32, 'The port; 443 by default.'),
  },
);
export type ServiceReference = Infer<typeof ServiceReference>;

export const APIServiceSpec = object(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec',
  'A version of an API group and the service that serves it.',
  {
    service: pointer(1, ServiceReference, 'The service that serves the API; absent when this server does.'),
    group: field(2, string, 'The API group.'),
    version: field(3, string, 'The API version.'),
    insecureSkipTLSVerify: field(4, bool, 'If true, the serving certificate is not checked.'),
    caBundle: field(5, bytes, 'Certificates that the serving certificate is checked against, as PEM.', {
      bytesListType: 'atomic',
    }),
    groupPriorityMinimum: required(7, int32, "The group's rank among groups: the higher, the earlier."),
    versionPriority: required(8, int32, "The version's rank in its group: the higher, the earlier."),
  },
);
export type APIServiceSpec = Infer<typeof APIServiceSpec>;

export const APIServiceCondition = object(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition',
  'One finding about an API service.',
  {
    type: required(1, named('v1.APIServiceConditionType'), 'The type of finding.'),
    status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
    lastTransitionTime: always(3, time, 'When the status last changed.'),
    reason: field(4, string, 'Why, as one CamelCase word.'),
    message: field(5, string, 'Why, in words.'),
  },
);
export type APIServiceCondition = Infer<typeof APIServiceCondition>;

export const APIServiceStatus = object(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceStatus',
  'Whether the API can be reached.',
  {
    conditions: field(1, mapListOf(APIServiceCondition, 'type'), 'Available: whether the API can be reached.', { merge: 'type' }),
  },
);
export type APIServiceStatus = Infer<typeof APIServiceStatus>;

export const APIService = kind(
  {
    name: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
    group: 'apiregistration.k8s.io',
    version: 'v1',
    kind: 'APIService',
    resource: 'apiservices',
    namespaced: false,
    categories: ['api-extensions'],
  },
  'Has another server answer for an API group and version.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, APIServiceSpec, 'What is wanted.'),
    status: always(3, APIServiceStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type APIService = Infer<typeof APIService>;
