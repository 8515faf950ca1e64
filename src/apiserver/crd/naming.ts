import { apiextensions } from '#api';

type Definition = apiextensions.CustomResourceDefinition;
type Names = apiextensions.CustomResourceDefinitionNames;
type Condition = apiextensions.CustomResourceDefinitionCondition;

/** What a definition's status shall say of its names. */
export interface Naming {
  readonly acceptedNames: Names;
  readonly namesAccepted: Condition;
  readonly established: Condition;
}

interface Verdict {
  readonly reason: string;
  readonly message: string;
}

/**
 * Names belong to the first that asked for them, group by group. `others` are the other definitions of the group; what a definition holds
 * under one heading it cannot take under another either, as upstream does. Pure: times are left to the caller.
 */
export function namingOf(definition: Definition, others: readonly Definition[]): Naming {
  const wanted = definition.spec.names;
  const accepted = definition.status?.acceptedNames;
  const taken = takenNames([...others, definition]);
  const problems: Verdict[] = [];
  const pick = (name: string | undefined, before: string | undefined, names: ReadonlySet<string>, reason: string): string | undefined => {
    if (name === undefined || name === '' || name === before || !names.has(name)) return name;
    problems.push({ reason, message: `"${name}" is already in use` });
    return before;
  };
  const plural = pick(wanted.plural, accepted?.plural, taken.resources, 'PluralConflict');
  const singular = pick(wanted.singular, accepted?.singular, taken.resources, 'SingularConflict');
  const clashes = wanted.shortNames?.filter((name) => !accepted?.shortNames?.includes(name) && taken.resources.has(name)) ?? [];
  if (clashes.length > 0) problems.push({ reason: 'ShortNamesConflict', message: allInUse(clashes) });
  const shortNames = clashes.length > 0 ? accepted?.shortNames : wanted.shortNames;
  const kind = pick(wanted.kind, accepted?.kind, taken.kinds, 'KindConflict');
  const listKind = pick(wanted.listKind, accepted?.listKind, taken.kinds, 'ListKindConflict');
  const acceptedNames = {
    plural: plural ?? '',
    ...(singular && { singular }),
    ...(shortNames?.length && { shortNames }),
    kind: kind ?? '',
    ...(listKind && { listKind }),
    ...(wanted.categories?.length && { categories: wanted.categories }),
  } as Names;
  return { acceptedNames, ...conditionsFor(definition, problems) };
}

/** Short names are accepted all or none, and all that are taken are told at once. */
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

function conditionsFor(definition: Definition, problems: readonly Verdict[]): Pick<Naming, 'namesAccepted' | 'established'> {
  // Upstream checks them one after the other and remembers the last.
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

function takenNames(others: readonly Definition[]): { resources: ReadonlySet<string>; kinds: ReadonlySet<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { status } of others) {
    const names = status?.acceptedNames;
    for (const name of [names?.plural, names?.singular, ...(names?.shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [names?.kind, names?.listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}
