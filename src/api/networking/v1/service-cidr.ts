import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, mapListOf, object, string } from '../../schema.ts';

export const ServiceCIDRSpec = object('io.k8s.api.networking.v1.ServiceCIDRSpec', '', {
  cidrs: field(1, listOf(string)),
});
export type ServiceCIDRSpec = Infer<typeof ServiceCIDRSpec>;

export const ServiceCIDRStatus = object('io.k8s.api.networking.v1.ServiceCIDRStatus', '', {
  conditions: field(1, mapListOf(Condition, 'type'), '', { merge: 'type' }),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, ServiceCIDRSpec),
    status: always(3, ServiceCIDRStatus),
  },
);
export type ServiceCIDR = Infer<typeof ServiceCIDR>;
