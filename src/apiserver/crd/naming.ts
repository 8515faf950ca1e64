import { apiextensions } from '#api';

type Definition = apiextensions.CustomResourceDefinition;
type Names = apiextensions.CustomResourceDefinitionNames;
type Condition = apiextensions.CustomResourceDefinitionCondition;

/** The names and conditions in the status of a definition. */
export interface NameAcceptance {
  readonly acceptedNames: Names;
  readonly namesAccepted: Condition;
  readonly established: Condition;
}

interface NameDecision {
  readonly reason: string;
  readonly message: string;
}

/**
 * Names belong to the first definition of the group that requested them. As upstream, a name that another definition uses in any role
 * (plural, singular, kind, short name) is taken. Pure: the caller sets times.
 */
export function namingOf(definition: Definition, others: readonly Definition[]): NameAcceptance {
  const requested = definition.spec.names;
  const accepted = definition.status?.acceptedNames;
  const usedNames = namesInUse([...others, definition]);
  const problems: NameDecision[] = [];
  const pick = (name: string | undefined, before: string | undefined, names: ReadonlySet<string>, reason: string): string | undefined => {
    if (name === undefined || name === '' || name === before || !names.has(name)) return name;
    problems.push({ reason, message: `"${name}" is already in use` });
    return before;
  };
  const plural = pick(requested.plural, accepted?.plural, usedNames.resources, 'PluralConflict');
  const singular = pick(requested.singular, accepted?.singular, usedNames.resources, 'SingularConflict');
  const ownNames = new Set(accepted?.shortNames);
  const clashes = requested.shortNames?.filter((name) => !ownNames.has(name) && usedNames.resources.has(name)) ?? [];
  if (clashes.length > 0) problems.push({ reason: 'ShortNamesConflict', message: allInUse(clashes) });
  const shortNames = clashes.length > 0 ? accepted?.shortNames : requested.shortNames;
  const kind = pick(requested.kind, accepted?.kind, usedNames.kinds, 'KindConflict');
  const listKind = pick(requested.listKind, accepted?.listKind, usedNames.kinds, 'ListKindConflict');
  const acceptedNames = {
    plural: plural ?? '',
    ...(singular && { singular }),
    ...(shortNames?.length && { shortNames }),
    kind: kind ?? '',
    ...(listKind && { listKind }),
    ...(requested.categories?.length && { categories: requested.categories }),
  } as Names;
  return { acceptedNames, ...conditionsFor(definition, problems) };
}

/** Short names are accepted all or none; the message lists all conflicts. */
function allInUse(names: readonly string[]): string {
  const complaints = [...new Set(names)].map((name) => `"${name}" is already in use`);
  return complaints.length === 1 ? `${complaints[0]}` : `[${complaints.join(', ')}]`;
}

const DISTRUSTED: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
};

function conditionsFor(definition: Definition, problems: readonly NameDecision[]): Pick<NameAcceptance, 'namesAccepted' | 'established'> {
  // Upstream reports the last problem it finds.
  const problem = problems.at(-1);
  const isEstablished = definition.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  const installed = {
    type: 'Established',
    status: 'True',
    reason: 'InitialNamesAccepted',
    message: 'the initial names have been accepted',
  };
  if (problem === undefined) {
    return {
      namesAccepted: { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
      established: isEstablished || apiextensions.hasValidCABundle(definition.spec.conversion) ? installed : DISTRUSTED,
    };
  }
  return {
    namesAccepted: { type: 'NamesAccepted', status: 'False', ...problem },
    established: isEstablished
      ? installed
      : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  };
}

function namesInUse(others: readonly Definition[]): { resources: ReadonlySet<string>; kinds: ReadonlySet<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { status } of others) {
    const names = status?.acceptedNames;
    for (const name of [names?.plural, names?.singular, ...(names?.shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [names?.kind, names?.listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}
