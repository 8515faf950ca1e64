import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int64, kind, listOf, mapListOf, named, object, pointer, required, string } from '../../schema.ts';
import { MatchCondition } from './match-condition.ts';
import { MatchResources } from './match-resources.ts';
import { ParamKind } from './param-kind.ts';
import { Variable } from './variable.ts';

export const Validation = object('io.k8s.api.admissionregistration.v1.Validation', 'An expression that must be true.', {
  expression: required(1, string, 'The CEL expression.'),
  message: field(2, string, 'The message when the expression is false.'),
  reason: pointer(3, named('v1.StatusReason'), 'The reason of the refusal: Unauthorized, Forbidden, Invalid or RequestEntityTooLarge.'),
  messageExpression: field(4, string, 'A CEL expression that gives the message.'),
});
export type Validation = Infer<typeof Validation>;

export const AuditAnnotation = object('io.k8s.api.admissionregistration.v1.AuditAnnotation', 'What to note in the audit log.', {
  key: required(1, string, 'The key.'),
  valueExpression: required(2, string, 'The CEL expression that gives the value.'),
});
export type AuditAnnotation = Infer<typeof AuditAnnotation>;

export const ValidatingAdmissionPolicySpec = object(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec',
  'What is checked, and when.',
  {
    paramKind: pointer(1, ParamKind, 'The kind of objects that parametrize the policy.'),
    matchConstraints: pointer(2, MatchResources, 'Which requests the policy is about.'),
    validations: field(3, listOf(Validation), 'The expressions.'),
    failurePolicy: pointer(4, named('v1.FailurePolicyType'), 'What if an expression cannot be evaluated: Fail (the default) or Ignore.'),
    auditAnnotations: field(5, listOf(AuditAnnotation), 'What to note in the audit log.'),
    matchConditions: field(6, mapListOf(MatchCondition, 'name'), 'CEL expressions that must be true for the policy to apply.', {
      merge: 'name',
    }),
    variables: field(7, mapListOf(Variable, 'name'), 'Values that expressions can name.', { merge: 'name' }),
  },
);
export type ValidatingAdmissionPolicySpec = Infer<typeof ValidatingAdmissionPolicySpec>;

export const ExpressionWarning = object('io.k8s.api.admissionregistration.v1.ExpressionWarning', 'A warning about an expression.', {
  fieldRef: required(2, string, 'The expression, by its path.'),
  warning: required(3, string, 'The warning.'),
});
export type ExpressionWarning = Infer<typeof ExpressionWarning>;

export const TypeChecking = object('io.k8s.api.admissionregistration.v1.TypeChecking', 'What the type checker found.', {
  expressionWarnings: field(1, listOf(ExpressionWarning), 'What it warns of.'),
});
export type TypeChecking = Infer<typeof TypeChecking>;

export const ValidatingAdmissionPolicyStatus = object(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus',
  'What was found about a policy.',
  {
    observedGeneration: field(1, int64, 'The generation that this status is about.'),
    typeChecking: pointer(2, TypeChecking, 'What the type checker found.'),
    conditions: field(3, mapListOf(Condition, 'type'), 'What is known of its state.'),
  },
);
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
  'CEL expressions that must be true for objects to be written. A binding puts it to use.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, ValidatingAdmissionPolicySpec, 'What is wanted.'),
    status: always(3, ValidatingAdmissionPolicyStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type ValidatingAdmissionPolicy = Infer<typeof ValidatingAdmissionPolicy>;
