import { admissionregistration, KINDS } from '#api';
import { apiVersionOf, cel, type GroupVersionKind, type ObjectSchema, parseGroupVersion } from '#machinery';

type Policy = admissionregistration.ValidatingAdmissionPolicy;
type Warning = admissionregistration.ExpressionWarning;
type Rule = admissionregistration.NamedRuleWithOperations;
type CheckedKind = ObjectSchema & GroupVersionKind & { readonly resource: string };

/** More kinds than this are not checked for one rule: nobody would read the result. */
const MAX_KINDS = 10;

/** What is wrong with a policy's expressions for the kinds that its rules name. Nothing of it keeps the policy from being used. */
export function checkTypes({ spec = {} }: Policy, known: readonly CheckedKind[] = KINDS): readonly Warning[] {
  const kinds = checkedKinds(spec.matchConstraints?.resourceRules ?? [], known);
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
    return result.ok ? [] : [`${kind.group}/${kind.version}, Kind=${kind.kind}: ${problemText(result)}\n`];
  });
  return problems.length === 0 ? [] : [{ fieldRef, warning: problems.join('\n') }];
}

function problemText({ stage, message }: cel.CompileResult & { ok: false }): string {
  return stage === 'compile' ? `compilation failed: ${message}` : message;
}

function compileFor(kind: CheckedKind, expression: string, { spec, known }: Omit<Checking, 'kinds'>): cel.CompileResult {
  const object = cel.apiType(kind, kind.kind);
  const { paramKind, variables: definitions = [] } = spec;
  const declared = admissionregistration.admissionVariables({ hasParams: paramKind !== undefined, hasAuthorizer: true });
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
  return found && cel.apiType(found, `params.${kind}`);
}

/** By group, version and kind. Rules with wildcards name no kinds. */
function checkedKinds(rules: readonly Rule[], known: readonly CheckedKind[]): readonly CheckedKind[] {
  const found = new Set(rules.flatMap((rule) => ruleKinds(rule, known).slice(0, MAX_KINDS)));
  return [...found].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function ruleKinds({ apiGroups = [], apiVersions = [], resources = [] }: Rule, known: readonly CheckedKind[]): readonly CheckedKind[] {
  if ([...apiGroups, ...apiVersions].some((part) => part.includes('*'))) return [];
  return known.filter(
    ({ group, version, resource }) => apiGroups.includes(group) && apiVersions.includes(version) && resources.includes(resource),
  );
}

function sortKey(kind: CheckedKind): string {
  return `${apiVersionOf(kind)}/${kind.kind}`;
}
