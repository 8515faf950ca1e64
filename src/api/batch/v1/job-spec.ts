import { PodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { always, bool, field, type Infer, int32, int64, listOf, named, object, pointer, required, setOf, string } from '../../schema.ts';

export const PodFailurePolicyOnExitCodesRequirement = object(
  'io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement',
  'Exit codes of a container.',
  {
    containerName: pointer(1, string, 'The container; any by default.'),
    operator: required(2, named('v1.PodFailurePolicyOnExitCodesOperator'), 'In or NotIn.'),
    values: required(3, setOf(int32), 'The codes.'),
  },
);
export type PodFailurePolicyOnExitCodesRequirement = Infer<typeof PodFailurePolicyOnExitCodesRequirement>;

export const PodFailurePolicyOnPodConditionsPattern = object(
  'io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern',
  'A condition of a pod.',
  {
    type: required(1, named('v1.PodConditionType'), 'The type of the condition.'),
    status: always(2, named('v1.ConditionStatus'), 'Its status. True by default.'),
  },
);
export type PodFailurePolicyOnPodConditionsPattern = Infer<typeof PodFailurePolicyOnPodConditionsPattern>;

export const PodFailurePolicyRule = object('io.k8s.api.batch.v1.PodFailurePolicyRule', 'What follows from a failure.', {
  action: required(1, named('v1.PodFailurePolicyAction'), 'FailJob, FailIndex, Ignore or Count.'),
  onExitCodes: pointer(2, PodFailurePolicyOnExitCodesRequirement, 'Matches failures by exit code.'),
  onPodConditions: field(3, listOf(PodFailurePolicyOnPodConditionsPattern), 'Matches failures by conditions of the pod.'),
});
export type PodFailurePolicyRule = Infer<typeof PodFailurePolicyRule>;

export const PodFailurePolicy = object('io.k8s.api.batch.v1.PodFailurePolicy', 'What follows from which failure.', {
  rules: required(1, listOf(PodFailurePolicyRule), 'The rules; the first that matches decides.'),
});
export type PodFailurePolicy = Infer<typeof PodFailurePolicy>;

export const SuccessPolicyRule = object('io.k8s.api.batch.v1.SuccessPolicyRule', 'Indexes that are enough.', {
  succeededIndexes: pointer(1, string, 'Which indexes count, as in 1,3-5.'),
  succeededCount: pointer(2, int32, 'How many of them must have succeeded; all by default.'),
});
export type SuccessPolicyRule = Infer<typeof SuccessPolicyRule>;

export const SuccessPolicy = object('io.k8s.api.batch.v1.SuccessPolicy', 'When an indexed job has succeeded.', {
  rules: required(1, listOf(SuccessPolicyRule), 'The rules; the first that matches decides.'),
});
export type SuccessPolicy = Infer<typeof SuccessPolicy>;

export const JobSpec = object('io.k8s.api.batch.v1.JobSpec', 'What to run, how often and how long.', {
  parallelism: pointer(1, int32, 'How many pods run at once at most. 1 by default.'),
  completions: pointer(2, int32, 'How many pods must succeed.'),
  activeDeadlineSeconds: pointer(3, int64, 'How long the job may run before it is failed.'),
  podFailurePolicy: pointer(11, PodFailurePolicy, 'What follows from which failure.'),
  successPolicy: pointer(16, SuccessPolicy, 'When an indexed job has succeeded though some indexes have not.'),
  backoffLimit: pointer(7, int32, 'How many failures are allowed. 6 by default.'),
  backoffLimitPerIndex: pointer(12, int32, 'How many failures are allowed of each index.'),
  maxFailedIndexes: pointer(13, int32, 'How many indexes may fail.'),
  selector: pointer(4, LabelSelector, 'Labels of the pods that belong to it. Set by the system.'),
  manualSelector: pointer(5, bool, "If true, selector and labels are the user's own care."),
  template: required(6, PodTemplateSpec, 'The pods to make.'),
  ttlSecondsAfterFinished: pointer(8, int32, 'How long after its end the job is deleted.'),
  completionMode: pointer(9, named('v1.CompletionMode'), 'NonIndexed (the default), or Indexed to give each pod a number.'),
  suspend: pointer(10, bool, 'If true, no pods run.'),
  podReplacementPolicy: pointer(
    14,
    named('v1.PodReplacementPolicy'),
    'When pods are replaced: TerminatingOrFailed, or Failed to wait until they have terminated.',
  ),
  managedBy: pointer(15, string, 'The controller that runs the job, when it is not the built-in one.'),
});
export type JobSpec = Infer<typeof JobSpec>;
