import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, int32, kind, microTime, object, pointer, string } from '../../schema.ts';

export const LeaseSpec = object('io.k8s.api.coordination.v1.LeaseSpec', '', {
  holderIdentity: pointer(1, string),
  leaseDurationSeconds: pointer(2, int32),
  acquireTime: pointer(3, microTime),
  renewTime: pointer(4, microTime),
  leaseTransitions: pointer(5, int32),
  strategy: pointer(6, string),
  preferredHolder: pointer(7, string),
});
export type LeaseSpec = Infer<typeof LeaseSpec>;

export const Lease = kind(
  {
    name: 'io.k8s.api.coordination.v1.Lease',
    group: 'coordination.k8s.io',
    version: 'v1',
    kind: 'Lease',
    resource: 'leases',
    namespaced: true,
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, LeaseSpec),
  },
);
export type Lease = Infer<typeof Lease>;
