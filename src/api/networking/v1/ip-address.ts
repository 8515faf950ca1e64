import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, object, pointer, string } from '../../schema.ts';

export const ParentReference = object('io.k8s.api.networking.v1.ParentReference', 'The object that an address belongs to.', {
  group: field(1, string, 'The API group.'),
  resource: field(2, string, 'The resource.', { required: true }),
  namespace: field(3, string, 'The namespace.'),
  name: field(4, string, 'The name.', { required: true }),
});
export type ParentReference = Infer<typeof ParentReference>;

export const IPAddressSpec = object('io.k8s.api.networking.v1.IPAddressSpec', 'Who uses an address.', {
  parentRef: pointer(1, ParentReference, 'The object that uses it.', { required: true }),
});
export type IPAddressSpec = Infer<typeof IPAddressSpec>;

export const IPAddress = kind(
  {
    name: 'io.k8s.api.networking.v1.IPAddress',
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'IPAddress',
    resource: 'ipaddresses',
    namespaced: false,
    shortNames: ['ip'],
  },
  'An address that is in use, and by whom. Kept by the system.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, IPAddressSpec, 'Who uses it.', { required: true }),
  },
);
export type IPAddress = Infer<typeof IPAddress>;
