import { pushAll } from '#base';
import { cel, checkQualifiedName, FieldError, itemErrors, JsonPath, JsonPathError, nameIsDnsSubdomain, Path } from '#machinery';
import { invalidErrors, notEmpty, supportedValue } from '../../field-checks.ts';
import { goStruct } from '../../go-struct.ts';
import { validateConditions } from '../../meta/v1/condition.validation.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import { admissionVariables, compileErrors, validateVariables } from './expression.validation.ts';
import { validateFailurePolicy, validateMatchConstraints, validateParamKind, validatePolicyConditions } from './policy-spec.validation.ts';
import {
  AuditAnnotation,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicySpec,
  type Validation,
} from './validating-admission-policy.ts';

const MAX_ANNOTATIONS = 20;
const MAX_ANNOTATION_BYTES = 5 * 1024;
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain, anyFinalizer: true };

export function validateValidatingAdmissionPolicy(policy: ValidatingAdmissionPolicy): FieldError[] {
  return validatePolicy(policy);
}

export function validateValidatingAdmissionPolicyUpdate(policy: ValidatingAdmissionPolicy, old: ValidatingAdmissionPolicy): FieldError[] {
  return validatePolicy(policy, old);
}

function validatePolicy({ metadata, spec }: ValidatingAdmissionPolicy, old?: ValidatingAdmissionPolicy): FieldError[] {
  const policySpec = spec ?? {};
  const compiler = new PolicyCompiler(policySpec);
  return [
    ...validateObjectMeta(metadata, META),
    ...validateFailurePolicy(SPEC, policySpec.failurePolicy),
    ...(policySpec.paramKind ? validateParamKind(SPEC.child('paramKind'), policySpec.paramKind) : []),
    ...validateMatchConstraints(SPEC, policySpec.matchConstraints),
    ...validatePolicyConditions(SPEC, policySpec, old?.spec),
    ...validateVariables(SPEC.child('variables'), policySpec.variables ?? [], compiler.variables),
    ...validateContent(metadata.name, policySpec, compiler),
  ];
}

/** Compiles a policy's expressions, which may use its variables once they are defined. */
class PolicyCompiler {
  readonly variables: cel.PolicyVariables;
  private readonly hasParams: boolean;
  private readonly hasVariables: boolean;

  constructor({ paramKind, variables = [] }: ValidatingAdmissionPolicySpec) {
    this.hasParams = paramKind !== undefined;
    this.hasVariables = variables.length > 0;
    this.variables = new cel.PolicyVariables({ variables: admissionVariables({ hasParams: this.hasParams, hasAuthorizer: true }) });
  }

  /** Message expressions cannot use the authorizer. */
  compile(expression: string, resultTypes: readonly cel.CelType[], hasAuthorizer = true): cel.CompileResult {
    const declarations = admissionVariables({ hasParams: this.hasParams, hasAuthorizer });
    const variables = this.hasVariables ? { ...declarations, variables: this.variables.type } : declarations;
    return cel.compile(expression, { variables, resultTypes });
  }
}

function validateContent(
  name: string,
  { validations = [], auditAnnotations = [] }: ValidatingAdmissionPolicySpec,
  compiler: PolicyCompiler,
): FieldError[] {
  const annotations = SPEC.child('auditAnnotations');
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    return [FieldError.required(SPEC.child('validations'), detail), FieldError.required(annotations, detail)];
  }
  const errors = itemErrors(validations, (validation, i) => validateValidation(SPEC.child('validations').index(i), validation, compiler));
  if (auditAnnotations.length > MAX_ANNOTATIONS) {
    const printed = auditAnnotations.map((annotation) => goStruct(AuditAnnotation, annotation));
    errors.push(FieldError.invalid(annotations, printed, `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`));
  }
  const keys = new Set<string>();
  auditAnnotations.forEach((annotation, i) => {
    pushAll(errors, validateAnnotation(annotations.index(i), annotation, { policyName: name, compiler }));
    if (keys.has(annotation.key)) errors.push(FieldError.duplicate(annotations.index(i).child('key'), annotation.key));
    keys.add(annotation.key);
  });
  return errors;
}

function validateValidation(path: Path, validation: Validation, compiler: PolicyCompiler): FieldError[] {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  const errors: FieldError[] = [];
  const at = path.child('expression');
  if (expression.trim() === '') errors.push(FieldError.required(at, 'expression is not specified'));
  else pushAll(errors, compileErrors(at, expression, compiler.compile(expression, [cel.BOOL])));
  pushAll(errors, validateMessageExpression(path.child('messageExpression'), messageExpression, compiler));
  if (message !== '' && message.trim() === '') {
    errors.push(FieldError.invalid(path.child('message'), message, 'must be non-empty if specified'));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(FieldError.invalid(path.child('message'), message, 'must not contain line breaks'));
  }
  return reason === undefined ? errors : [...errors, ...supportedValue(path.child('reason'), reason, REASONS)];
}

function validateMessageExpression(path: Path, expression: string, compiler: PolicyCompiler): FieldError[] {
  if (expression === '') return [];
  if (expression.trim() === '') return [FieldError.invalid(path, expression, 'must be non-empty if specified')];
  return compileErrors(path, expression, compiler.compile(expression, [cel.STRING], false));
}

interface AnnotationContext {
  readonly policyName: string;
  readonly compiler: PolicyCompiler;
}

function validateAnnotation(
  path: Path,
  { key = '', valueExpression = '' }: AuditAnnotation,
  { policyName, compiler }: AnnotationContext,
): FieldError[] {
  const fullKey = `${policyName}/${key}`;
  const errors = policyName
    ? [...invalidErrors(path.child('key'), fullKey, checkQualifiedName(fullKey))]
    : [FieldError.invalid(path.child('key'), key, 'requires metadata.name be non-empty')];
  const trimmed = valueExpression.trim();
  const at = path.child('valueExpression');
  if (trimmed === '') return [...errors, FieldError.required(at, 'valueExpression is not specified')];
  if (Buffer.byteLength(trimmed) > MAX_ANNOTATION_BYTES) {
    return [...errors, FieldError.required(at, `must not exceed ${MAX_ANNOTATION_BYTES} bytes in length`)];
  }
  return [...errors, ...compileErrors(at, valueExpression, compiler.compile(trimmed, [cel.STRING, cel.NULL]))];
}

export function validateValidatingAdmissionPolicyStatusUpdate({ status }: ValidatingAdmissionPolicy): FieldError[] {
  const path = Path.of('status');
  const warnings = (status?.typeChecking?.expressionWarnings ?? []).flatMap(({ warning, fieldRef }, i) => {
    const at = path.child('typeChecking', 'expressionWarnings').index(i);
    return [...notEmpty(at.child('warning'), warning), ...validateFieldRef(at.child('fieldRef'), fieldRef?.trim())];
  });
  return [...warnings, ...validateConditions(status?.conditions ?? [], path.child('conditions'))];
}

function validateFieldRef(path: Path, fieldRef: string | undefined): FieldError[] {
  if (!fieldRef) return [FieldError.required(path)];
  try {
    // It starts with a field name, without a leading dot.
    new JsonPath(/^\w/.test(fieldRef) ? `.${fieldRef}` : fieldRef);
    return [];
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    return [FieldError.invalid(path, fieldRef, `invalid JSONPath: ${error.message}`)];
  }
}
