import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int64, kind, listOf, mapListOf, object, pointer, required, string } from '../../schema.ts';
import { MatchCondition } from './match-condition.ts';
import { MatchResources } from './match-resources.ts';
import { ParamKind } from './param-kind.ts';
import { Variable } from './variable.ts';

export const Validation = object('io.k8s.api.admissionregistration.v1.Validation', '', {
  expression: required(1, string),
  message: field(2, string),
  reason: pointer(3, string),
  messageExpression: field(4, string),
});
export type Validation = Infer<typeof Validation>;

export const AuditAnnotation = object('io.k8s.api.admissionregistration.v1.AuditAnnotation', '', {
  key: required(1, string),
  valueExpression: required(2, string),
});
export type AuditAnnotation = Infer<typeof AuditAnnotation>;

export const ValidatingAdmissionPolicySpec = object('io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec', '', {
  paramKind: pointer(1, ParamKind),
  matchConstraints: pointer(2, MatchResources),
  validations: field(3, listOf(Validation)),
  failurePolicy: pointer(4, string),
  auditAnnotations: field(5, listOf(AuditAnnotation)),
  matchConditions: field(6, mapListOf(MatchCondition, 'name'), '', { merge: 'name' }),
  variables: field(7, mapListOf(Variable, 'name'), '', { merge: 'name' }),
});
export type ValidatingAdmissionPolicySpec = Infer<typeof ValidatingAdmissionPolicySpec>;

export const ExpressionWarning = object('io.k8s.api.admissionregistration.v1.ExpressionWarning', '', {
  fieldRef: required(2, string),
  warning: required(3, string),
});
export type ExpressionWarning = Infer<typeof ExpressionWarning>;

export const TypeChecking = object('io.k8s.api.admissionregistration.v1.TypeChecking', '', {
  expressionWarnings: field(1, listOf(ExpressionWarning)),
});
export type TypeChecking = Infer<typeof TypeChecking>;

export const ValidatingAdmissionPolicyStatus = object('io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus', '', {
  observedGeneration: field(1, int64),
  typeChecking: pointer(2, TypeChecking),
  conditions: field(3, mapListOf(Condition, 'type')),
});
export type ValidatingAdmissionPolicyStatus = Infer<typeof ValidatingAdmissionPolicyStatus>;

export const ValidatingAdmissionPolicy = kind(
  {
    name: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy',
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicy',
    resource: 'validatingadmissionpolicies',
    namespaced: false,
    categories: ['api-extensions'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, ValidatingAdmissionPolicySpec),
    status: always(3, ValidatingAdmissionPolicyStatus),
  },
);
export type ValidatingAdmissionPolicy = Infer<typeof ValidatingAdmissionPolicy>;
