import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, listOf, object, pointer, required, setOf, string, time } from '../../schema.ts';
import { JobSpec } from './job-spec.ts';

export const JobCondition = object('io.k8s.api.batch.v1.JobCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastProbeTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: field(5, string),
  message: field(6, string),
});
export type JobCondition = Infer<typeof JobCondition>;

export const UncountedTerminatedPods = object('io.k8s.api.batch.v1.UncountedTerminatedPods', '', {
  succeeded: field(1, setOf(string)),
  failed: field(2, setOf(string)),
});
export type UncountedTerminatedPods = Infer<typeof UncountedTerminatedPods>;

export const JobStatus = object('io.k8s.api.batch.v1.JobStatus', '', {
  conditions: field(1, listOf(JobCondition), '', { merge: 'type' }),
  startTime: pointer(2, time),
  completionTime: pointer(3, time),
  active: field(4, int32),
  succeeded: field(5, int32),
  failed: field(6, int32),
  terminating: pointer(11, int32),
  completedIndexes: field(7, string),
  failedIndexes: pointer(10, string),
  uncountedTerminatedPods: pointer(8, UncountedTerminatedPods),
  ready: pointer(9, int32),
});
export type JobStatus = Infer<typeof JobStatus>;

export const Job = kind(
  { name: 'io.k8s.api.batch.v1.Job', group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true, categories: ['all'] },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, JobSpec),
    status: always(3, JobStatus),
  },
);
export type Job = Infer<typeof Job>;
