import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, microTime, named, object, pointer, required, string } from '../../schema.ts';

export const LeaseCandidateSpec = object('io.k8s.api.coordination.v1beta1.LeaseCandidateSpec', 'Who would hold a lease.', {
  leaseName: required(1, string, 'The lease. Cannot be changed.'),
  pingTime: pointer(2, microTime, 'When the candidate was last pinged.'),
  renewTime: pointer(3, microTime, 'When the candidate last said that it is there.'),
  binaryVersion: required(4, string, "The version of the candidate's program."),
  emulationVersion: field(5, string, 'The version that it behaves like.'),
  strategy: field(6, named('v1.CoordinatedLeaseStrategy'), 'How the holder is chosen.', { required: true }),
});
export type LeaseCandidateSpec = Infer<typeof LeaseCandidateSpec>;

export const LeaseCandidate = kind(
  {
    name: 'io.k8s.api.coordination.v1beta1.LeaseCandidate',
    group: 'coordination.k8s.io',
    version: 'v1beta1',
    kind: 'LeaseCandidate',
    resource: 'leasecandidates',
    namespaced: true,
    lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' },
  },
  'A candidate for a lease in coordinated leader election.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, LeaseCandidateSpec, 'Which lease, and what the candidate is.'),
  },
);
export type LeaseCandidate = Infer<typeof LeaseCandidate>;
