import { admissionregistration } from '#api';
import { cel, parseGroupVersion } from '#machinery';
import { type CheckedKind, kindsOf } from './checked-kinds.ts';

type Policy = admissionregistration.ValidatingAdmissionPolicy;
type Warning = admissionregistration.ExpressionWarning;

/** What is wrong with a policy's expressions for the kinds that its rules name. Nothing of it keeps the policy from being used. */
export function checkTypes({ spec = {} }: Policy, known: readonly CheckedKind[]): readonly Warning[] {
  const kinds = kindsOf(spec.matchConstraints?.resourceRules ?? [], known);
  return (spec.validations ?? []).flatMap(({ expression = '', messageExpression = '' }, i) => [
    ...check(`spec.validations[${i}].expression`, expression, { spec, kinds, known }),
    ...(messageExpression === '' ? [] : check(`spec.validations[${i}].messageExpression`, messageExpression, { spec, kinds, known })),
  ]);
}

interface Checking {
  readonly spec: NonNullable<Policy['spec']>;
  readonly kinds: readonly CheckedKind[];
  readonly known: readonly CheckedKind[];
}

function check(fieldRef: string, expression: string, { spec, kinds, known }: Checking): readonly Warning[] {
  const problems = kinds.flatMap((kind) => {
    const result = compileFor(kind, expression, { spec, known });
    return result.ok ? [] : [`${kind.group}/${kind.version}, Kind=${kind.kind}: ${result.message}\n`];
  });
  return problems.length === 0 ? [] : [{ fieldRef, warning: problems.join('\n') }];
}

function compileFor(kind: CheckedKind, expression: string, { spec, known }: Omit<Checking, 'kinds'>): cel.CompileResult {
  const object = kind.typeNamed(kind.kind) ?? cel.DYN;
  const { paramKind, variables: definitions = [] } = spec;
  // As upstream's checker, this one does not know the resource that a request is about, which the authorizer is asked about at run time.
  const { 'authorizer.requestResource': _, ...declared } = admissionregistration.admissionVariables({
    hasParams: paramKind !== undefined,
    hasAuthorizer: true,
  });
  const params = paramKind && paramType(paramKind, known);
  const variables = new cel.PolicyVariables({ variables: { ...declared, object, oldObject: object, ...(params && { params }) } });
  for (const { name = '', expression: definition = '' } of definitions) variables.define(name, definition);
  return variables.compile(expression);
}

function paramType(
  { apiVersion = '', kind = '' }: admissionregistration.ParamKind,
  known: readonly CheckedKind[],
): cel.CelType | undefined {
  const { group, version } = parseGroupVersion(apiVersion);
  const found = known.find((candidate) => candidate.kind === kind && candidate.group === group && candidate.version === version);
  return found?.typeNamed(`params.${kind}`);
}
