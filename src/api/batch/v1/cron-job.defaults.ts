import { fillUnset, fillZero, withField } from '../../defaulting.ts';
import type { CronJob, CronJobSpec, JobTemplateSpec } from './cron-job.ts';
import { defaultJobTemplate } from './job.defaults.ts';
import type { JobSpec } from './job-spec.ts';

export function defaultCronJob(job: CronJob): CronJob {
  let spec = fillZero(job.spec ?? ({} as CronJobSpec), { concurrencyPolicy: 'Allow' });
  spec = fillUnset(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
  const template: JobTemplateSpec = spec.jobTemplate ?? {};
  const jobTemplate = withField(template, 'spec', defaultJobTemplate(template.spec ?? ({} as JobSpec)));
  return withField(job, 'spec', withField(spec, 'jobTemplate', jobTemplate));
}
