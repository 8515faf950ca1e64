import { PodTemplateSpec } from '../../core/v1/pod-template-spec.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { always, bool, field, type Infer, int32, int64, listOf, object, pointer, required, setOf, string } from '../../schema.ts';

export const PodFailurePolicyOnExitCodesRequirement = object('io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement', '', {
  containerName: pointer(1, string),
  operator: required(2, string),
  values: required(3, setOf(int32)),
});
export type PodFailurePolicyOnExitCodesRequirement = Infer<typeof PodFailurePolicyOnExitCodesRequirement>;

export const PodFailurePolicyOnPodConditionsPattern = object('io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern', '', {
  type: required(1, string),
  status: always(2, string),
});
export type PodFailurePolicyOnPodConditionsPattern = Infer<typeof PodFailurePolicyOnPodConditionsPattern>;

export const PodFailurePolicyRule = object('io.k8s.api.batch.v1.PodFailurePolicyRule', '', {
  action: required(1, string),
  onExitCodes: pointer(2, PodFailurePolicyOnExitCodesRequirement),
  onPodConditions: field(3, listOf(PodFailurePolicyOnPodConditionsPattern)),
});
export type PodFailurePolicyRule = Infer<typeof PodFailurePolicyRule>;

export const PodFailurePolicy = object('io.k8s.api.batch.v1.PodFailurePolicy', '', {
  rules: required(1, listOf(PodFailurePolicyRule)),
});
export type PodFailurePolicy = Infer<typeof PodFailurePolicy>;

export const SuccessPolicyRule = object('io.k8s.api.batch.v1.SuccessPolicyRule', '', {
  succeededIndexes: pointer(1, string),
  succeededCount: pointer(2, int32),
});
export type SuccessPolicyRule = Infer<typeof SuccessPolicyRule>;

export const SuccessPolicy = object('io.k8s.api.batch.v1.SuccessPolicy', '', {
  rules: required(1, listOf(SuccessPolicyRule)),
});
export type SuccessPolicy = Infer<typeof SuccessPolicy>;

export const JobSpec = object('io.k8s.api.batch.v1.JobSpec', '', {
  parallelism: pointer(1, int32),
  completions: pointer(2, int32),
  activeDeadlineSeconds: pointer(3, int64),
  podFailurePolicy: pointer(11, PodFailurePolicy),
  successPolicy: pointer(16, SuccessPolicy),
  backoffLimit: pointer(7, int32),
  backoffLimitPerIndex: pointer(12, int32),
  maxFailedIndexes: pointer(13, int32),
  selector: pointer(4, LabelSelector),
  manualSelector: pointer(5, bool),
  template: required(6, PodTemplateSpec),
  ttlSecondsAfterFinished: pointer(8, int32),
  completionMode: pointer(9, string),
  suspend: pointer(10, bool),
  podReplacementPolicy: pointer(14, string),
  managedBy: pointer(15, string),
});
export type JobSpec = Infer<typeof JobSpec>;
