import { batch } from '#api';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';
import { prepareTemplate } from '../generic/template-preparation.ts';

type Job = batch.Job;

const PRESERVED =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

function prepareForCreate(job: Job, scope: RequestScope): Job {
  const prepared = prepareTemplate(job, scope);
  if (!prepared.spec || prepared.spec.manualSelector) return prepared;
  return withGeneratedSelector(prepared, prepared.spec);
}

/**
 * Upstream's defaulting shares the template's label map with a job without labels, so that generated labels appear in both before
 * validation. With generateName the object is copied first, which separates them.
 */
function sharesTemplateLabels({ metadata, spec }: Job): boolean {
  return metadata.labels !== undefined && metadata.labels === spec?.template?.metadata?.labels && metadata.generateName === undefined;
}

/** A generated selector by uid, so that no other job claims the pods. Conflicting labels are left to validation. */
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
    ...(sharesTemplateLabels(job) && { metadata: { ...job.metadata, labels } }),
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
  // The default predates garbage collection.
  defaultPropagation: 'Orphan',
  deletionWarnings: (_, { propagationPolicy, orphanDependents }) =>
    propagationPolicy === undefined && orphanDependents === undefined ? [PRESERVED] : [],
  fieldLabelError: (field) => `field label "${field}" not supported for Job`,
  prepareForCreate,
  prepareForUpdate: (object, _old, scope) => prepareTemplate(object, scope),
  // A stored job without labels is read with its template's labels, including generated ones.
  canonicalize: batch.jobWithTemplateLabels,
  resetFields: { '': [['status']], status: [['spec']] },
};
