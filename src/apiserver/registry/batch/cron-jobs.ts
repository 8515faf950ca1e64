import { batch, core } from '#api';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';

function prepare(job: batch.CronJob, scope: RequestScope): batch.CronJob {
  const { spec } = job;
  const template = spec?.jobTemplate?.spec?.template;
  if (!spec || !template) return job;
  const prepared = core.dropDisabledTemplateFields(template, scope.features);
  if (prepared === template) return job;
  const jobSpec = { ...(spec.jobTemplate.spec as batch.JobSpec), template: prepared };
  return { ...job, spec: { ...spec, jobTemplate: { ...spec.jobTemplate, spec: jobSpec } } };
}

export const cronJobsStrategy: ResourceStrategy<batch.CronJob> = {
  ...batch.cronJobBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepare,
  prepareForUpdate: (object, _old, scope) => prepare(object, scope),
  resetFields: { '': [['status']], status: [['spec']] },
};
