import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, listOf, named, object, pointer, required, setOf, string, time } from '../../schema.ts';
import { JobSpec } from './job-spec.ts';

export const JobCondition = object('io.k8s.api.batch.v1.JobCondition', 'One finding about a job.', {
  type: required(1, named('v1.JobConditionType'), 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastProbeTime: always(3, time, 'When it was last probed.'),
  lastTransitionTime: always(4, time, 'When the status last changed.'),
  reason: field(5, string, 'Why, as one CamelCase word.'),
  message: field(6, string, 'Why, in words.'),
});
export type JobCondition = Infer<typeof JobCondition>;

export const UncountedTerminatedPods = object(
  'io.k8s.api.batch.v1.UncountedTerminatedPods',
  'Pods that have ended and are not counted yet.',
  {
    succeeded: field(1, setOf(named('types.UID')), 'Those that succeeded, by uid.'),
    failed: field(2, setOf(named('types.UID')), 'Those that failed, by uid.'),
  },
);
export type UncountedTerminatedPods = Infer<typeof UncountedTerminatedPods>;

export const JobStatus = object('io.k8s.api.batch.v1.JobStatus', 'The observed state of a job.', {
  conditions: field(1, listOf(JobCondition), 'Complete, Failed, Suspended and others.', { merge: 'type' }),
  startTime: pointer(2, time, 'When the job began.'),
  completionTime: pointer(3, time, 'When the job succeeded.'),
  active: field(4, int32, 'How many pods run or wait to run.'),
  succeeded: field(5, int32, 'How many pods have succeeded.'),
  failed: field(6, int32, 'How many pods have failed.'),
  terminating: pointer(11, int32, 'How many pods are ending.'),
  completedIndexes: field(7, string, 'The indexes that have succeeded, as in 1,3-5.'),
  failedIndexes: pointer(10, string, 'The indexes that have failed, as in 1,3-5.'),
  uncountedTerminatedPods: pointer(8, UncountedTerminatedPods, 'Pods that have ended and are not counted yet.'),
  ready: pointer(9, int32, 'How many active pods are ready.'),
});
export type JobStatus = Infer<typeof JobStatus>;

export const Job = kind(
  { name: 'io.k8s.api.batch.v1.Job', group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true, categories: ['all'] },
  'Runs pods until a number of them have succeeded.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, JobSpec, 'What is wanted.'),
    status: always(3, JobStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type Job = Infer<typeof Job>;
