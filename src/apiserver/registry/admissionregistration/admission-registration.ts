import { admissionregistration } from '#api';
import { keepMetadata } from '../generic/keep-metadata.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** Updates require a resourceVersion, and the generation follows the spec. */
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
  prepareForStatusUpdate: keepMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};

export const validatingAdmissionPolicyBindingsStrategy: ResourceStrategy<admissionregistration.ValidatingAdmissionPolicyBinding> = {
  ...admissionregistration.validatingAdmissionPolicyBindingBehaviour,
  ...COMMON,
};

export const mutatingAdmissionPoliciesStrategy: ResourceStrategy<admissionregistration.MutatingAdmissionPolicy> = {
  ...admissionregistration.mutatingAdmissionPolicyBehaviour,
  ...COMMON,
  storedVersion: 'v1beta1',
};

export const mutatingAdmissionPolicyBindingsStrategy: ResourceStrategy<admissionregistration.MutatingAdmissionPolicyBinding> = {
  ...admissionregistration.mutatingAdmissionPolicyBindingBehaviour,
  ...COMMON,
  storedVersion: 'v1beta1',
};
