import type { batch, core } from '#api';
import { matchFailurePolicy } from './failure-policy.ts';
import {
  COMPLETION_INDEX,
  hasLimitPerIndex,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  indexFailures,
  indexIgnoredFailures,
  TRACKING_FINALIZER,
} from './job-pods.ts';

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';
const MAX_PREFIX_LENGTH = 58;

/** The template of a job's next pod; `replaced` is the failed pod that it replaces. */
export function podTemplate(job: batch.Job, index: number | undefined, replaced: core.Pod | undefined): core.PodTemplateSpec {
  const { template } = job.spec!;
  const finalizers = [...new Set([...(template.metadata?.finalizers ?? []), TRACKING_FINALIZER])];
  const tracked = { ...template, metadata: { ...template.metadata, finalizers } };
  if (index === undefined) return tracked;
  const value = { [COMPLETION_INDEX]: String(index) };
  const counts = hasLimitPerIndex(job) ? failureCounts(job, replaced) : {};
  const spec = template.spec!;
  return {
    metadata: {
      ...tracked.metadata,
      labels: { ...template.metadata?.labels, ...value },
      annotations: { ...template.metadata?.annotations, ...value, ...counts },
    },
    spec: {
      ...spec,
      hostname: `${job.metadata.name}-${index}`,
      containers: spec.containers.map(withIndexVariable),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(withIndexVariable) }),
    },
  };
}

function failureCounts({ spec }: batch.Job, replaced: core.Pod | undefined): Readonly<Record<string, string>> {
  if (replaced === undefined) return { [INDEX_FAILURES]: '0' };
  const { counts } = matchFailurePolicy(spec?.podFailurePolicy, replaced);
  const failures = indexFailures(replaced) + (counts ? 1 : 0);
  const ignored = indexIgnoredFailures(replaced) + (counts ? 0 : 1);
  return { [INDEX_FAILURES]: String(failures), ...(ignored > 0 && { [INDEX_IGNORED_FAILURES]: String(ignored) }) };
}

function withIndexVariable(container: core.Container): core.Container {
  if (container.env?.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const variable = { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } } };
  return { ...container, env: [...(container.env ?? []), variable] };
}

export function namePrefix(jobName: string, index: number): string {
  const suffix = `-${index}-`;
  return (jobName + suffix).length <= MAX_PREFIX_LENGTH ? jobName + suffix : jobName.slice(0, MAX_PREFIX_LENGTH - suffix.length) + suffix;
}
