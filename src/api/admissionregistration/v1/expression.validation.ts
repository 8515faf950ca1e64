import { pushAll } from '#base';
import { cel, checkQualifiedName, FieldError, itemErrors, type Path } from '#machinery';
import { invalidErrors } from '../../field-checks.ts';
import type { MatchCondition } from './match-condition.ts';
import type { Variable } from './variable.ts';

const MAX_MATCH_CONDITIONS = 64;
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

export interface ExpressionScope {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
}

/** The variables of webhook and policy expressions. */
export function admissionVariables({ hasParams, hasAuthorizer }: ExpressionScope): Readonly<Record<string, cel.CelType>> {
  return {
    object: cel.DYN,
    oldObject: cel.DYN,
    namespaceObject: cel.NAMESPACE_OBJECT_TYPE,
    request: cel.ADMISSION_REQUEST_TYPE,
    ...(hasParams && { params: cel.DYN }),
    ...(hasAuthorizer && { authorizer: cel.AUTHORIZER_TYPE, 'authorizer.requestResource': cel.RESOURCE_CHECK_TYPE }),
  };
}

/** The error of an expression that does not compile or has the wrong result type. */
export function compileErrors(path: Path, expression: string, result: cel.CompileResult): FieldError[] {
  if (result.ok) return [];
  switch (result.stage) {
    case 'compile':
      return [FieldError.invalid(path, expression, `compilation failed: ${result.message}`)];
    case 'result':
      return [FieldError.invalid(path, expression, result.message)];
    case 'program':
      return [FieldError.internalError(path, new Error(`program instantiation failed: ${result.message}`))];
  }
}

/** Match conditions of webhooks and policies. */
export function validateMatchConditions(path: Path, conditions: readonly MatchCondition[], hasParams: boolean): FieldError[] {
  const variables = admissionVariables({ hasParams, hasAuthorizer: true });
  const errors = conditions.length > MAX_MATCH_CONDITIONS ? [FieldError.tooMany(path, conditions.length, MAX_MATCH_CONDITIONS)] : [];
  const names = new Set<string>();
  conditions.forEach(({ name = '', expression = '' }, i) => {
    const at = path.index(i);
    const trimmed = expression.trim();
    if (trimmed === '') errors.push(FieldError.required(at.child('expression')));
    else pushAll(errors, compileErrors(at.child('expression'), trimmed, cel.compile(trimmed, { variables, resultTypes: [cel.BOOL] })));
    if (name === '') {
      errors.push(FieldError.required(at.child('name')));
      return;
    }
    pushAll(errors, invalidErrors(at.child('name'), name, checkQualifiedName(name)));
    if (names.has(name)) errors.push(FieldError.duplicate(at.child('name'), name));
    names.add(name);
  });
  return errors;
}

/** Defines a policy's variables in order: each may use the previous ones. */
export function validateVariables(path: Path, variables: readonly Variable[], policy: cel.PolicyVariables): FieldError[] {
  return itemErrors(variables, ({ name = '', expression = '' }, i) => [
    ...validateVariableName(path.index(i).child('name'), name),
    ...(expression.trim() === ''
      ? [FieldError.required(path.index(i).child('expression'), 'expression is not specified')]
      : compileErrors(path.index(i).child('expression'), expression, policy.define(name, expression))),
  ]);
}

function validateVariableName(path: Path, name: string): FieldError[] {
  if (name.trim() === '') return [FieldError.required(path, 'name is not specified')];
  if (IDENTIFIER.test(name) && !RESERVED.has(name)) return [];
  return [FieldError.invalid(path, name, 'must be a valid CEL identifier')];
}
