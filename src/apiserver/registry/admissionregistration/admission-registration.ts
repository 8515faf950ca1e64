import { admissionregistration } from '#api';
import { withKeptMetadata } from '../kept-metadata.ts';
import type { ResourceStrategy } from '../strategy.ts';

/** Webhooks and policies are never overwritten blindly, and their generation follows what they say. */
const COMMON = { tracksGeneration: true, allowUnconditionalUpdate: false } as const;

export const mutatingWebhookConfigurationsStrategy: ResourceStrategy<admissionregistration.MutatingWebhookConfiguration> = {
  ...admissionregistration.mutatingWebhookConfigurationBehaviour,
  ...COMMON,
};

export const validatingWebhookConfigurationsStrategy: ResourceStrategy<admissionregistration.ValidatingWebhookConfiguration> = {
  ...admissionregistration.validatingWebhookConfigurationBehaviour,
  ...COMMON,
};

export const validatingAdmissionPoliciesStrategy: ResourceStrategy<admissionregistration.ValidatingAdmissionPolicy> = {
  ...admissionregistration.validatingAdmissionPolicyBehaviour,
  ...COMMON,
  hasStatus: true,
  prepareForStatusUpdate: withKeptMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};

export const validatingAdmissionPolicyBindingsStrategy: ResourceStrategy<admissionregistration.ValidatingAdmissionPolicyBinding> = {
  ...admissionregistration.validatingAdmissionPolicyBindingBehaviour,
  ...COMMON,
};

export const mutatingAdmissionPoliciesStrategy: ResourceStrategy<admissionregistration.MutatingAdmissionPolicy> = {
  ...admissionregistration.mutatingAdmissionPolicyBehaviour,
  ...COMMON,
};

export const mutatingAdmissionPolicyBindingsStrategy: ResourceStrategy<admissionregistration.MutatingAdmissionPolicyBinding> = {
  ...admissionregistration.mutatingAdmissionPolicyBindingBehaviour,
  ...COMMON,
};

export const ADMISSION_REGISTRATION_STRATEGIES = [
  mutatingAdmissionPoliciesStrategy,
  mutatingAdmissionPolicyBindingsStrategy,
  mutatingWebhookConfigurationsStrategy,
  validatingAdmissionPoliciesStrategy,
  validatingAdmissionPolicyBindingsStrategy,
  validatingWebhookConfigurationsStrategy,
] as const;
