import { ObjectReference } from '../../core/v1/reference/object-reference.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bool,
  field,
  type Infer,
  int32,
  int64,
  kind,
  listOf,
  named,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';
import { JobSpec } from './job-spec.ts';

export const JobTemplateSpec = object('io.k8s.api.batch.v1.JobTemplateSpec', 'What jobs made from a template look like.', {
  metadata: always(1, ObjectMeta, 'Labels and annotations of the jobs.'),
  spec: always(2, JobSpec, 'What the jobs run.'),
});
export type JobTemplateSpec = Infer<typeof JobTemplateSpec>;

export const CronJobSpec = object('io.k8s.api.batch.v1.CronJobSpec', 'What to start, and when.', {
  schedule: required(1, string, "When, in cron's notation."),
  timeZone: pointer(8, string, "The time zone that the schedule is in; the server's by default."),
  startingDeadlineSeconds: pointer(2, int64, 'How late a job may still start.'),
  concurrencyPolicy: field(3, named('v1.ConcurrencyPolicy'), 'What if the last job still runs: Allow (the default), Forbid or Replace.'),
  suspend: pointer(4, bool, 'If true, no further jobs are started.'),
  jobTemplate: required(5, JobTemplateSpec, 'The jobs to start.'),
  successfulJobsHistoryLimit: pointer(6, int32, 'How many jobs that succeeded are kept. 3 by default.'),
  failedJobsHistoryLimit: pointer(7, int32, 'How many jobs that failed are kept. 1 by default.'),
});
export type CronJobSpec = Infer<typeof CronJobSpec>;

export const CronJobStatus = object('io.k8s.api.batch.v1.CronJobStatus', 'What a cron job has started.', {
  active: field(1, listOf(ObjectReference), 'Jobs that run now.'),
  lastScheduleTime: pointer(4, time, 'When a job was last due and started.'),
  lastSuccessfulTime: pointer(5, time, 'When a job last succeeded.'),
});
export type CronJobStatus = Infer<typeof CronJobStatus>;

export const CronJob = kind(
  {
    name: 'io.k8s.api.batch.v1.CronJob',
    group: 'batch',
    version: 'v1',
    kind: 'CronJob',
    resource: 'cronjobs',
    namespaced: true,
    shortNames: ['cj'],
    categories: ['all'],
  },
  'Starts jobs at given times.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, CronJobSpec, 'What is wanted.', { required: true }),
    status: always(3, CronJobStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type CronJob = Infer<typeof CronJob>;
