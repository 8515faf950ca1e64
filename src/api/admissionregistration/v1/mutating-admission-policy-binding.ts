import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, object, pointer, string } from '../../schema.ts';
import { MatchResources } from './match-resources.ts';
import { ParamRef } from './param-ref.ts';

export const MutatingAdmissionPolicyBindingSpec = object('io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingSpec', '', {
  policyName: field(1, string),
  paramRef: pointer(2, ParamRef),
  matchResources: pointer(3, MatchResources),
});
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, MutatingAdmissionPolicyBindingSpec),
  },
);
export type MutatingAdmissionPolicyBinding = Infer<typeof MutatingAdmissionPolicyBinding>;
