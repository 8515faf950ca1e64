import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, named, object, pointer, setOf, string } from '../../schema.ts';
import { MatchResources } from './match-resources.ts';
import { ParamRef } from './param-ref.ts';

export const ValidatingAdmissionPolicyBindingSpec = object(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec',
  'Which policy, where, and what follows.',
  {
    policyName: field(1, string, 'The policy.', { required: true }),
    paramRef: pointer(2, ParamRef, 'The object with parameters.'),
    matchResources: pointer(3, MatchResources, 'Which requests, of those that the policy is about.'),
    validationActions: field(4, setOf(named('v1.ValidationAction')), 'What a violation leads to: Deny, Warn or Audit.', { required: true }),
  },
);
export type ValidatingAdmissionPolicyBindingSpec = Infer<typeof ValidatingAdmissionPolicyBindingSpec>;

export const ValidatingAdmissionPolicyBinding = kind(
  {
    name: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    resource: 'validatingadmissionpolicybindings',
    namespaced: false,
    categories: ['api-extensions'],
  },
  'Puts a validating policy to use, somewhere, with parameters.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, ValidatingAdmissionPolicyBindingSpec, 'Which policy, where, and what follows.', { required: true }),
  },
);
export type ValidatingAdmissionPolicyBinding = Infer<typeof ValidatingAdmissionPolicyBinding>;
