import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, mapListOf, object, string } from '../../schema.ts';

export const ServiceCIDRSpec = object('io.k8s.api.networking.v1.ServiceCIDRSpec', 'The range.', {
  cidrs: field(1, listOf(string), 'The range, one a family. Cannot be changed.'),
});
export type ServiceCIDRSpec = Infer<typeof ServiceCIDRSpec>;

export const ServiceCIDRStatus = object('io.k8s.api.networking.v1.ServiceCIDRStatus', 'Whether the range is in use.', {
  conditions: field(1, mapListOf(Condition, 'type'), 'Ready: whether addresses are allocated from it.', { merge: 'type' }),
});
export type ServiceCIDRStatus = Infer<typeof ServiceCIDRStatus>;

export const ServiceCIDR = kind(
  {
    name: 'io.k8s.api.networking.v1.ServiceCIDR',
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'ServiceCIDR',
    resource: 'servicecidrs',
    namespaced: false,
  },
  'A range that addresses of services are taken from.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, ServiceCIDRSpec, 'What is wanted.'),
    status: always(3, ServiceCIDRStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type ServiceCIDR = Infer<typeof ServiceCIDR>;
