import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, int32, kind, microTime, named, object, pointer, string } from '../../schema.ts';

export const LeaseSpec = object('io.k8s.api.coordination.v1.LeaseSpec', 'Who holds a lease, and for how long.', {
  holderIdentity: pointer(1, string, 'Who holds it.'),
  leaseDurationSeconds: pointer(2, int32, 'How long others wait after renewTime before they take it.'),
  acquireTime: pointer(3, microTime, 'When it was taken.'),
  renewTime: pointer(4, microTime, 'When it was last renewed.'),
  leaseTransitions: pointer(5, int32, 'How often it changed hands.'),
  strategy: pointer(6, named('v1.CoordinatedLeaseStrategy'), 'How the holder is chosen, in coordinated election.'),
  preferredHolder: pointer(7, string, 'Who should hold it instead.'),
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
  'A claim that is held for a time: leadership, or being alive.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, LeaseSpec, 'Who holds it, and for how long.'),
  },
);
export type Lease = Infer<typeof Lease>;
