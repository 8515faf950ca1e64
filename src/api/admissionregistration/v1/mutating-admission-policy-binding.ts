import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, object, pointer, string } from '../../schema.ts';
import { MatchResources } from './match-resources.ts';
import { ParamRef } from './param-ref.ts';

export const MutatingAdmissionPolicyBindingSpec = object(
  'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingSpec',
  'Which policy, and where.',
  {
    policyName: field(1, string, 'The policy.'),
    paramRef: pointer(2, ParamRef, 'The object with parameters.'),
    matchResources: pointer(3, MatchResources, 'Which requests, of those that the policy is about.'),
  },
);
export type MutatingAdmissionPolicyBindingSpec = Infer<typeof MutatingAdmissionPolicyBindingSpec>;

export const MutatingAdmissionPolicyBinding = kind(
  {
    name: 'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding',
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'MutatingAdmissionPolicyBinding',
    resource: 'mutatingadmissionpolicybindings',
    namespaced: false,
    categories: ['api-extensions'],
  },
  'Puts a mutating policy to use, somewhere, with parameters.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, MutatingAdmissionPolicyBindingSpec, 'Which policy, and where.'),
  },
);
export type MutatingAdmissionPolicyBinding = Infer<typeof MutatingAdmissionPolicyBinding>;
