import { admissionregistration } from '#api';
import { cel, parseGroupVersion } from '#machinery';
import { type CheckedKind, kindsOf } from './checked-kinds.ts';

type Policy = admissionregistration.ValidatingAdmissionPolicy;
type Warning = admissionregistration.ExpressionWarning;

/** Type-checking warnings of a policy's expressions for the kinds that its rules match. They do not disable the policy. */
export function checkTypes({ spec = {} }: Policy, allKinds: readonly CheckedKind[]): readonly Warning[] {
  const kinds = kindsOf(spec.matchConstraints?.resourceRules ?? [], allKinds);
  return (spec.validations ?? []).flatMap(({ expression = '', messageExpression = '' }, i) => [
    ...check(`spec.validations[${i}].expression`, expression, { spec, kinds, allKinds }),
    ...(messageExpression === '' ? [] : check(`spec.validations[${i}].messageExpression`, messageExpression, { spec, kinds, allKinds })),
  ]);
}

interface CheckContext {
  readonly spec: NonNullable<Policy['spec']>;
  readonly kinds: readonly CheckedKind[];
  readonly allKinds: readonly CheckedKind[];
}

function check(fieldRef: string, expression: string, { spec, kinds, allKinds }: CheckContext): readonly Warning[] {
  const problems = kinds.flatMap((kind) => {
    const result = compileFor(kind, expression, { spec, allKinds });
    return result.ok ? [] : [`${kind.group}/${kind.version}, Kind=${kind.kind}: ${result.message}\n`];
  });
  return problems.length === 0 ? [] : [{ fieldRef, warning: problems.join('\n') }];
}

function compileFor(kind: CheckedKind, expression: string, { spec, allKinds }: Omit<CheckContext, 'kinds'>): cel.CompileResult {
  const object = kind.typeNamed(kind.kind) ?? cel.DYN;
  const { paramKind, variables: definitions = [] } = spec;
  // `authorizer.requestResource` is not declared, as in upstream's type checker.
  const { 'authorizer.requestResource': _, ...declared } = admissionregistration.admissionVariables({
    hasParams: paramKind !== undefined,
    hasAuthorizer: true,
  });
  const params = paramKind && paramType(paramKind, allKinds);
  const variables = new cel.PolicyVariables({ variables: { ...declared, object, oldObject: object, ...(params && { params }) } });
  for (const { name = '', expression: definition = '' } of definitions) variables.define(name, definition);
  return variables.compile(expression);
}

function paramType(
  { apiVersion = '', kind = '' }: admissionregistration.ParamKind,
  allKinds: readonly CheckedKind[],
): cel.CelType | undefined {
  const { group, version } = parseGroupVersion(apiVersion);
  const match = allKinds.find((candidate) => candidate.kind === kind && candidate.group === group && candidate.version === version);
  return match?.typeNamed(`params.${kind}`);
}
