import { ObjectReference } from '../../core/v1/reference/object-reference.ts';
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
  named,
  object,
  pointer,
  required,
  setOf,
  string,
} from '../../schema.ts';

export const EndpointConditions = object('io.k8s.api.discovery.v1.EndpointConditions', 'Whether an endpoint is ready.', {
  ready: pointer(1, bool, 'Whether it is ready for traffic.'),
  serving: pointer(2, bool, 'Whether it serves, though it may be ending.'),
  terminating: pointer(3, bool, 'Whether it is ending.'),
});
export type EndpointConditions = Infer<typeof EndpointConditions>;

export const ForZone = object('io.k8s.api.discovery.v1.ForZone', 'A zone.', {
  name: required(1, string, 'The name.'),
});
export type ForZone = Infer<typeof ForZone>;

export const ForNode = object('io.k8s.api.discovery.v1.ForNode', 'A node.', {
  name: required(1, string, 'The name.'),
});
export type ForNode = Infer<typeof ForNode>;

export const EndpointHints = object('io.k8s.api.discovery.v1.EndpointHints', 'For whom an endpoint is meant.', {
  forZones: field(1, listOf(ForZone), 'The zones.'),
  forNodes: field(2, listOf(ForNode), 'The nodes.'),
});
export type EndpointHints = Infer<typeof EndpointHints>;

export const Endpoint = object('io.k8s.api.discovery.v1.Endpoint', 'Something that serves, such as a pod.', {
  addresses: required(1, setOf(string), 'Its addresses; consumers use the first.'),
  conditions: always(2, EndpointConditions, 'Whether it is ready.'),
  hostname: pointer(3, string, 'Its host name.'),
  targetRef: pointer(4, ObjectReference, 'The object with this address.'),
  deprecatedTopology: field(5, mapOf(string), 'No longer written.'),
  nodeName: pointer(6, string, 'The node that it is on.'),
  zone: pointer(7, string, 'The zone that it is in.'),
  hints: pointer(8, EndpointHints, 'For whom it is meant.'),
});
export type Endpoint = Infer<typeof Endpoint>;

export const EndpointPort = atomic(
  object('io.k8s.api.discovery.v1.EndpointPort', 'A port of endpoints.', {
    name: pointer(1, string, 'The name of the port.'),
    protocol: pointer(2, named('v1.Protocol'), 'TCP, UDP or SCTP.'),
    port: pointer(3, int32, 'The port number.'),
    appProtocol: pointer(4, string, 'The protocol spoken on the port.'),
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
  'Some of the addresses behind a service.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    addressType: required(4, named('v1.AddressType'), 'IPv4, IPv6 or FQDN. Cannot be changed.'),
    endpoints: always(2, listOf(Endpoint), 'The addresses, up to a thousand.'),
    ports: always(3, listOf(EndpointPort), 'The ports that every address serves.'),
  },
);
export type EndpointSlice = Infer<typeof EndpointSlice>;
