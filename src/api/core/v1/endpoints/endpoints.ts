import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, atomic, field, type Infer, int32, kind, listOf, named, object, pointer, required, string } from '../../../schema.ts';
import { ObjectReference } from '../reference/object-reference.ts';

export const EndpointAddress = atomic(
  object('io.k8s.api.core.v1.EndpointAddress', 'One address behind a service.', {
    ip: required(1, string, 'The IP address; not loopback, link-local or multicast.'),
    hostname: field(3, string, 'The host name of the endpoint.'),
    nodeName: pointer(4, string, 'The node that the endpoint is on.'),
    targetRef: pointer(2, ObjectReference, 'The object that provides the endpoint, usually a pod.'),
  }),
);
export type EndpointAddress = Infer<typeof EndpointAddress>;

export const EndpointPort = atomic(
  object('io.k8s.api.core.v1.EndpointPort', 'A port of an endpoint.', {
    name: field(1, string, 'The name of the port, as in the service. Needed when there are several.'),
    port: required(2, int32, 'The port number.'),
    protocol: field(3, named('v1.Protocol'), 'TCP, UDP or SCTP; TCP by default.'),
    appProtocol: pointer(4, string, 'The protocol spoken on the port, such as http or kubernetes.io/h2c.'),
  }),
);
export type EndpointPort = Infer<typeof EndpointPort>;

export const EndpointSubset = object('io.k8s.api.core.v1.EndpointSubset', 'Addresses that share the same ports.', {
  addresses: field(1, listOf(EndpointAddress), 'Addresses that are ready for traffic.'),
  notReadyAddresses: field(2, listOf(EndpointAddress), 'Addresses that are not ready: starting, or failing their checks.'),
  ports: field(3, listOf(EndpointPort), 'The ports that every address serves.'),
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
  'The addresses behind a service. Deprecated: use EndpointSlice.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    subsets: field(2, listOf(EndpointSubset), 'Addresses and ports that belong together.'),
  },
);
export type Endpoints = Infer<typeof Endpoints>;
