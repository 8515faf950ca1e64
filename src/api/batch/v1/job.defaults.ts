import { defaultPodTemplate } from '../../core/v1/pod/pod-spec.defaults.ts';
import { fillUnset, fillZero, mapField, mapItems, withField } from '../../defaulting.ts';
import type { Job } from './job.ts';
import type { JobSpec, PodFailurePolicy, PodFailurePolicyRule } from './job-spec.ts';

const EMPTY_SPEC = {} as JobSpec;
const MAX_INT32 = 2 ** 31 - 1;

export function defaultJob(job: Job): Job {
  const spec = defaultJobTemplate(defaultOwnSpec(job.spec ?? EMPTY_SPEC));
  return jobWithTemplateLabels(withField(job, 'spec', spec));
}

/** Defaults of a job template; the job's own defaults are set when it is created. */
export function defaultJobTemplate(spec: JobSpec): JobSpec {
  const policy = mapField(spec, 'podFailurePolicy', defaultFailurePolicy);
  return withField(policy, 'template', defaultPodTemplate(policy.template));
}

function defaultOwnSpec(spec: JobSpec): JobSpec {
  const isOpen = spec.completions === undefined && spec.parallelism === undefined;
  return fillUnset(isOpen ? { ...spec, completions: 1 } : spec, {
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed',
    manualSelector: false,
  });
}

/** A job without labels gets those of its pods. */
export function jobWithTemplateLabels(job: Job): Job {
  const labels = job.spec?.template?.metadata?.labels;
  if (!labels || Object.keys(job.metadata?.labels ?? {}).length > 0) return job;
  return { ...job, metadata: { ...job.metadata, labels } };
}

function defaultFailurePolicy(policy: PodFailurePolicy): PodFailurePolicy {
  return mapField(policy, 'rules', (rules) => mapItems(rules, defaultRule));
}

function defaultRule(rule: PodFailurePolicyRule): PodFailurePolicyRule {
  return mapField(rule, 'onPodConditions', (patterns) => mapItems(patterns, (pattern) => fillZero(pattern, { status: 'True' })));
}
