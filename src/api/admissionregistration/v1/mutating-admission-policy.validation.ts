import { cel, FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { requiredValue } from '../../field-checks.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import { admissionVariables, compileErrors, validateVariables } from './expression.validation.ts';
import type { MutatingAdmissionPolicy, Mutation } from './mutating-admission-policy.ts';
import { validateFailurePolicy, validateMatchConstraints, validateParamKind, validatePolicyConditions } from './policy-spec.validation.ts';
import { REINVOCATION_POLICIES, validateMutableOperations } from './rule.validation.ts';

const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch'];
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain, anyFinalizer: true };

export function validateMutatingAdmissionPolicy(policy: MutatingAdmissionPolicy): FieldError[] {
  return validatePolicy(policy);
}

export function validateMutatingAdmissionPolicyUpdate(policy: MutatingAdmissionPolicy, old: MutatingAdmissionPolicy): FieldError[] {
  return validatePolicy(policy, old);
}

function validatePolicy({ metadata, spec }: MutatingAdmissionPolicy, old?: MutatingAdmissionPolicy): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints, variables = [], mutations = [], reinvocationPolicy } = spec ?? {};
  const declarations = admissionVariables({ hasParams: paramKind !== undefined, hasAuthorizer: true });
  const policy = new cel.PolicyVariables({ variables: declarations });
  const compiler = (expression: string, resultType: cel.CelType) =>
    compileMutation(expression, resultType, { ...declarations, variables: policy.type });
  return [
    ...validateObjectMeta(metadata, META),
    ...validateFailurePolicy(SPEC, failurePolicy),
    ...(paramKind ? validateParamKind(SPEC.child('paramKind'), paramKind) : []),
    ...validateMatchConstraints(SPEC, matchConstraints),
    ...(matchConstraints ? validateMutableOperations(SPEC.child('matchConstraints'), matchConstraints) : []),
    ...validatePolicyConditions(SPEC, spec ?? {}, old?.spec),
    ...validateVariables(SPEC.child('variables'), variables, policy),
    ...(mutations.length === 0 ? [FieldError.required(SPEC.child('mutations'), 'mutations must contain at least one item')] : []),
    ...itemErrors(mutations, (mutation, i) => validateMutation(SPEC.child('mutations').index(i), mutation, compiler)),
    ...requiredValue(SPEC.child('reinvocationPolicy'), reinvocationPolicy, REINVOCATION_POLICIES),
  ];
}

/** Patch expressions can construct objects and escape keys. */
function compileMutation(expression: string, resultType: cel.CelType, variables: Readonly<Record<string, cel.CelType>>): cel.CompileResult {
  const resolveType = cel.resolveMutationType;
  return cel.compile(expression, { variables, environment: cel.MUTATION_ENVIRONMENT, resolveType, resultTypes: [resultType] });
}

type Compiler = (expression: string, resultType: cel.CelType) => cel.CompileResult;

const APPLY_RESULT = cel.objectType('Object', {});
const PATCH_RESULT = cel.listType(cel.JSON_PATCH_TYPE);

/** Exactly the member for the patch's type must be set. */
function validateMutation(path: Path, mutation: Mutation, compiler: Compiler): FieldError[] {
  const { patchType, applyConfiguration, jsonPatch } = mutation;
  const errors = requiredValue(path.child('patchType'), patchType, PATCH_TYPES);
  if (errors.length > 0) return [...errors];
  const isPatch = patchType === 'JSONPatch';
  const required = isPatch ? jsonPatch : applyConfiguration;
  const other = isPatch ? applyConfiguration : jsonPatch;
  const name = isPatch ? 'jsonPatch' : 'applyConfiguration';
  const otherName = isPatch ? 'applyConfiguration' : 'jsonPatch';
  const own = required
    ? validateExpression(path.child(name, 'expression'), required.expression ?? '', (text) =>
        compiler(text, isPatch ? PATCH_RESULT : APPLY_RESULT),
      )
    : [FieldError.required(path.child(name), `must be specified when patchType is ${patchType}`)];
  if (!other) return own;
  return [...own, FieldError.invalid(path.child(otherName), `{${otherName}}`, `must not be specified when patchType is ${patchType}`)];
}

function validateExpression(path: Path, expression: string, compile: (expression: string) => cel.CompileResult): FieldError[] {
  const trimmed = expression.trim();
  return trimmed === '' ? [FieldError.required(path)] : compileErrors(path, trimmed, compile(trimmed));
}
