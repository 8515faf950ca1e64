import { ObjectReference } from '../../core/v1/object-reference.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  atomic,
  bool,
  field,
  type Infer,
  int32,
  kind,
  listOf,
  mapOf,
  object,
  pointer,
  required,
  setOf,
  string,
} from '../../schema.ts';

export const EndpointConditions = object('io.k8s.api.discovery.v1.EndpointConditions', '', {
  ready: pointer(1, bool),
  serving: pointer(2, bool),
  terminating: pointer(3, bool),
});
export type EndpointConditions = Infer<typeof EndpointConditions>;

export const ForZone = object('io.k8s.api.discovery.v1.ForZone', '', {
  name: required(1, string),
});
export type ForZone = Infer<typeof ForZone>;

export const ForNode = object('io.k8s.api.discovery.v1.ForNode', '', {
  name: required(1, string),
});
export type ForNode = Infer<typeof ForNode>;

export const EndpointHints = object('io.k8s.api.discovery.v1.EndpointHints', '', {
  forZones: field(1, listOf(ForZone)),
  forNodes: field(2, listOf(ForNode)),
});
export type EndpointHints = Infer<typeof EndpointHints>;

export const Endpoint = object('io.k8s.api.discovery.v1.Endpoint', '', {
  addresses: required(1, setOf(string)),
  conditions: always(2, EndpointConditions),
  hostname: pointer(3, string),
  targetRef: pointer(4, ObjectReference),
  deprecatedTopology: field(5, mapOf(string)),
  nodeName: pointer(6, string),
  zone: pointer(7, string),
  hints: pointer(8, EndpointHints),
});
export type Endpoint = Infer<typeof Endpoint>;

export const EndpointPort = atomic(
  object('io.k8s.api.discovery.v1.EndpointPort', '', {
    name: pointer(1, string),
    protocol: pointer(2, string),
    port: pointer(3, int32),
    appProtocol: pointer(4, string),
  }),
);
export type EndpointPort = Infer<typeof EndpointPort>;

export const EndpointSlice = kind(
  {
    name: 'io.k8s.api.discovery.v1.EndpointSlice',
    group: 'discovery.k8s.io',
    version: 'v1',
    kind: 'EndpointSlice',
    resource: 'endpointslices',
    namespaced: true,
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    addressType: required(4, string),
    endpoints: always(2, listOf(Endpoint)),
    ports: always(3, listOf(EndpointPort)),
  },
);
export type EndpointSlice = Infer<typeof EndpointSlice>;
