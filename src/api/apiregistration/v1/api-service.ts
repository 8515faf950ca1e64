import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, bytes, field, type Infer, int32, kind, mapListOf, object, pointer, required, string, time } from '../../schema.ts';

export const ServiceReference = object('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference', '', {
  namespace: field(1, string),
  name: field(2, string),
  port: pointer(3, int32),
});
export type ServiceReference = Infer<typeof ServiceReference>;

export const APIServiceSpec = object('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec', '', {
  service: pointer(1, ServiceReference),
  group: field(2, string),
  version: field(3, string),
  insecureSkipTLSVerify: field(4, bool),
  caBundle: field(5, bytes),
  groupPriorityMinimum: required(7, int32),
  versionPriority: required(8, int32),
});
export type APIServiceSpec = Infer<typeof APIServiceSpec>;

export const APIServiceCondition = object('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastTransitionTime: always(3, time),
  reason: field(4, string),
  message: field(5, string),
});
export type APIServiceCondition = Infer<typeof APIServiceCondition>;

export const APIServiceStatus = object('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceStatus', '', {
  conditions: field(1, mapListOf(APIServiceCondition, 'type'), '', { merge: 'type' }),
});
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, APIServiceSpec),
    status: always(3, APIServiceStatus),
  },
);
export type APIService = Infer<typeof APIService>;
