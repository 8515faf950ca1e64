import { ObjectReference } from '../../core/v1/object-reference.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, int32, int64, kind, listOf, object, pointer, required, string, time } from '../../schema.ts';
import { JobSpec } from './job-spec.ts';

export const JobTemplateSpec = object('io.k8s.api.batch.v1.JobTemplateSpec', '', {
  metadata: always(1, ObjectMeta),
  spec: always(2, JobSpec),
});
export type JobTemplateSpec = Infer<typeof JobTemplateSpec>;

export const CronJobSpec = object('io.k8s.api.batch.v1.CronJobSpec', '', {
  schedule: required(1, string),
  timeZone: pointer(8, string),
  startingDeadlineSeconds: pointer(2, int64),
  concurrencyPolicy: field(3, string),
  suspend: pointer(4, bool),
  jobTemplate: required(5, JobTemplateSpec),
  successfulJobsHistoryLimit: pointer(6, int32),
  failedJobsHistoryLimit: pointer(7, int32),
});
export type CronJobSpec = Infer<typeof CronJobSpec>;

export const CronJobStatus = object('io.k8s.api.batch.v1.CronJobStatus', '', {
  active: field(1, listOf(ObjectReference)),
  lastScheduleTime: pointer(4, time),
  lastSuccessfulTime: pointer(5, time),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, CronJobSpec, '', { required: true }),
    status: always(3, CronJobStatus),
  },
);
export type CronJob = Infer<typeof CronJob>;
