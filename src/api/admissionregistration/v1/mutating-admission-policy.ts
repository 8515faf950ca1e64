import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, mapListOf, named, object, pointer, required, string } from '../../schema.ts';
import { MatchCondition } from './match-condition.ts';
import { MatchResources } from './match-resources.ts';
import { ParamKind } from './param-kind.ts';
import { Variable } from './variable.ts';

export const ApplyConfiguration = object('io.k8s.api.admissionregistration.v1.ApplyConfiguration', 'Fields to apply.', {
  expression: field(1, string, 'The CEL expression that gives them.'),
});
export type ApplyConfiguration = Infer<typeof ApplyConfiguration>;

export const JSONPatch = object('io.k8s.api.admissionregistration.v1.JSONPatch', 'A JSON patch.', {
  expression: field(1, string, 'The CEL expression that gives it.'),
});
export type JSONPatch = Infer<typeof JSONPatch>;

export const Mutation = object('io.k8s.api.admissionregistration.v1.Mutation', 'A change to an object.', {
  patchType: required(2, named('v1.PatchType'), 'Which member is set: ApplyConfiguration or JSONPatch.'),
  applyConfiguration: pointer(3, ApplyConfiguration, 'The change, as fields to apply.'),
  jsonPatch: pointer(4, JSONPatch, 'The change, as a JSON patch.'),
});
export type Mutation = Infer<typeof Mutation>;

export const MutatingAdmissionPolicySpec = object(
  'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec',
  'What is changed, and when.',
  {
    paramKind: pointer(1, ParamKind, 'The kind of objects that parametrize the policy.'),
    matchConstraints: pointer(2, MatchResources, 'Which requests the policy is about.'),
    variables: field(3, listOf(Variable), 'Values that expressions can name.'),
    mutations: field(4, listOf(Mutation), 'The changes.'),
    failurePolicy: pointer(5, named('v1.FailurePolicyType'), 'What if an expression cannot be evaluated: Fail (the default) or Ignore.'),
    matchConditions: field(6, mapListOf(MatchCondition, 'name'), 'CEL expressions that must be true for the policy to apply.', {
      merge: 'name',
    }),
    reinvocationPolicy: field(
      7,
      named('v1.ReinvocationPolicyType'),
      'Whether it applies again after others changed the object: Never or IfNeeded.',
    ),
  },
);
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
  'CEL expressions that change objects before they are written. A binding puts it to use.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, MutatingAdmissionPolicySpec, 'What is changed, and when.'),
  },
);
export type MutatingAdmissionPolicy = Infer<typeof MutatingAdmissionPolicy>;
