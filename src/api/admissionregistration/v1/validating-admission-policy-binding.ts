import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, object, pointer, setOf, string } from '../../schema.ts';
import { MatchResources } from './match-resources.ts';
import { ParamRef } from './param-ref.ts';

export const ValidatingAdmissionPolicyBindingSpec = object('io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec', '', {
  policyName: field(1, string, '', { required: true }),
  paramRef: pointer(2, ParamRef),
  matchResources: pointer(3, MatchResources),
  validationActions: field(4, setOf(string), '', { required: true }),
});
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, ValidatingAdmissionPolicyBindingSpec, '', { required: true }),
  },
);
export type ValidatingAdmissionPolicyBinding = Infer<typeof ValidatingAdmissionPolicyBinding>;
