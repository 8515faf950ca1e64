import { admissionregistrationV1alpha1 as v1alpha1, admissionregistrationV1beta1 as v1beta1 } from '#api';
import { type RegistryGroup, registryGroup, versionOf, withVersions } from '../generic/registry-group.ts';
import {
  mutatingAdmissionPoliciesStrategy,
  mutatingAdmissionPolicyBindingsStrategy,
  mutatingWebhookConfigurationsStrategy,
  validatingAdmissionPoliciesStrategy,
  validatingAdmissionPolicyBindingsStrategy,
  validatingWebhookConfigurationsStrategy,
} from './admission-registration.ts';

export const ADMISSION_REGISTRATION: RegistryGroup = withVersions(
  registryGroup([
    mutatingAdmissionPoliciesStrategy,
    mutatingAdmissionPolicyBindingsStrategy,
    mutatingWebhookConfigurationsStrategy,
    validatingAdmissionPoliciesStrategy,
    validatingAdmissionPolicyBindingsStrategy,
    validatingWebhookConfigurationsStrategy,
  ]),
  versionOf(mutatingAdmissionPoliciesStrategy, v1beta1.MutatingAdmissionPolicy),
  versionOf(mutatingAdmissionPolicyBindingsStrategy, v1beta1.MutatingAdmissionPolicyBinding),
  versionOf(mutatingAdmissionPoliciesStrategy, v1alpha1.MutatingAdmissionPolicy),
  versionOf(mutatingAdmissionPolicyBindingsStrategy, v1alpha1.MutatingAdmissionPolicyBinding),
);
