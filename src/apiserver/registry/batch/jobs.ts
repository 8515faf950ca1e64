import { batch } from '#api';
import type { ResourceStrategy } from '../strategy.ts';
import { prepareTemplate } from '../template-preparation.ts';

type Job = batch.Job;

const PRESERVED =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

function prepareForCreate(job: Job): Job {
  const prepared = prepareTemplate(job);
  if (!prepared.spec || prepared.spec.manualSelector) return prepared;
  // A job without labels of its own has those of its pods, the generated ones too.
  return batch.jobWithTemplateLabels(withGeneratedSelector(prepared, prepared.spec));
}

/** A job selects its pods by its own uid, so that no other can claim them. Labels that a client chose are for validation to refuse. */
function withGeneratedSelector(job: Job, spec: batch.JobSpec): Job {
  const { name, uid = '' } = job.metadata;
  const { template = {}, selector } = spec;
  const labels = {
    [batch.LEGACY_JOB_NAME_LABEL]: name,
    [batch.JOB_NAME_LABEL]: name,
    [batch.LEGACY_CONTROLLER_UID_LABEL]: uid,
    [batch.CONTROLLER_UID_LABEL]: uid,
    ...template.metadata?.labels,
  };
  return {
    ...job,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels: { [batch.CONTROLLER_UID_LABEL]: uid, ...selector?.matchLabels } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

export const jobsStrategy: ResourceStrategy<Job> = {
  ...batch.jobBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  // Older than garbage collection: whoever does not ask keeps the pods.
  defaultPropagation: 'Orphan',
  deletionWarnings: (_, { propagationPolicy, orphanDependents }) =>
    propagationPolicy === undefined && orphanDependents === undefined ? [PRESERVED] : [],
  fieldLabelError: (field) => `field label "${field}" not supported for Job`,
  prepareForCreate,
  prepareForUpdate: prepareTemplate,
  resetFields: { '': [['status']], status: [['spec']] },
};
