import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, atomic, field, type Infer, int32, kind, listOf, object, pointer, required, string } from '../../schema.ts';
import { ObjectReference } from './object-reference.ts';

export const EndpointAddress = atomic(
  object('io.k8s.api.core.v1.EndpointAddress', '', {
    ip: required(1, string),
    hostname: field(3, string),
    nodeName: pointer(4, string),
    targetRef: pointer(2, ObjectReference),
  }),
);
export type EndpointAddress = Infer<typeof EndpointAddress>;

export const EndpointPort = atomic(
  object('io.k8s.api.core.v1.EndpointPort', '', {
    name: field(1, string),
    port: required(2, int32),
    protocol: field(3, string),
    appProtocol: pointer(4, string),
  }),
);
export type EndpointPort = Infer<typeof EndpointPort>;

export const EndpointSubset = object('io.k8s.api.core.v1.EndpointSubset', '', {
  addresses: field(1, listOf(EndpointAddress)),
  notReadyAddresses: field(2, listOf(EndpointAddress)),
  ports: field(3, listOf(EndpointPort)),
});
export type EndpointSubset = Infer<typeof EndpointSubset>;

export const Endpoints = kind(
  {
    name: 'io.k8s.api.core.v1.Endpoints',
    group: '',
    version: 'v1',
    kind: 'Endpoints',
    resource: 'endpoints',
    namespaced: true,
    shortNames: ['ep'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    subsets: field(2, listOf(EndpointSubset)),
  },
);
export type Endpoints = Infer<typeof Endpoints>;
