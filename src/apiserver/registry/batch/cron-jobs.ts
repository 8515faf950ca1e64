import { batch, core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

function prepare(job: batch.CronJob): batch.CronJob {
  const { spec } = job;
  const template = spec?.jobTemplate?.spec?.template;
  if (!spec || !template) return job;
  const prepared = core.dropDisabledTemplateFields(template);
  if (prepared === template) return job;
  const jobSpec = { ...(spec.jobTemplate.spec as batch.JobSpec), template: prepared };
  return { ...job, spec: { ...spec, jobTemplate: { ...spec.jobTemplate, spec: jobSpec } } };
}

export const cronJobsStrategy: ResourceStrategy<batch.CronJob> = {
  ...batch.cronJobBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepare,
  prepareForUpdate: prepare,
  resetFields: { '': [['status']], status: [['spec']] },
};
