import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, mapListOf, object, pointer, required, string } from '../../schema.ts';
import { MatchCondition } from './match-condition.ts';
import { MatchResources } from './match-resources.ts';
import { ParamKind } from './param-kind.ts';
import { Variable } from './variable.ts';

export const ApplyConfiguration = object('io.k8s.api.admissionregistration.v1.ApplyConfiguration', '', {
  expression: field(1, string),
});
export type ApplyConfiguration = Infer<typeof ApplyConfiguration>;

export const JSONPatch = object('io.k8s.api.admissionregistration.v1.JSONPatch', '', {
  expression: field(1, string),
});
export type JSONPatch = Infer<typeof JSONPatch>;

export const Mutation = object('io.k8s.api.admissionregistration.v1.Mutation', '', {
  patchType: required(2, string),
  applyConfiguration: pointer(3, ApplyConfiguration),
  jsonPatch: pointer(4, JSONPatch),
});
export type Mutation = Infer<typeof Mutation>;

export const MutatingAdmissionPolicySpec = object('io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec', '', {
  paramKind: pointer(1, ParamKind),
  matchConstraints: pointer(2, MatchResources),
  variables: field(3, listOf(Variable)),
  mutations: field(4, listOf(Mutation)),
  failurePolicy: pointer(5, string),
  matchConditions: field(6, mapListOf(MatchCondition, 'name'), '', { merge: 'name' }),
  reinvocationPolicy: field(7, string),
});
export type MutatingAdmissionPolicySpec = Infer<typeof MutatingAdmissionPolicySpec>;

export const MutatingAdmissionPolicy = kind(
  {
    name: 'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy',
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'MutatingAdmissionPolicy',
    resource: 'mutatingadmissionpolicies',
    namespaced: false,
    categories: ['api-extensions'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, MutatingAdmissionPolicySpec),
  },
);
export type MutatingAdmissionPolicy = Infer<typeof MutatingAdmissionPolicy>;
