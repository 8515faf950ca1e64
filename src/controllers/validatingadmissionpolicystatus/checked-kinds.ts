import { type admissionregistration, type apiextensions, KINDS, meta } from '#api';
import { apiVersionOf, cel, type GroupVersionKind } from '#machinery';

type Rule = admissionregistration.NamedRuleWithOperations;
type Definition = apiextensions.CustomResourceDefinition;

/** At most this many kinds are checked per rule, as upstream. */
const MAX_KINDS = 10;

/** A kind whose objects expressions can be checked against. */
export interface CheckedKind extends GroupVersionKind {
  readonly resource: string;
  /** Undefined when the kind has no schema. */
  typeNamed(name: string): cel.CelType | undefined;
}

export function builtInKinds(): readonly CheckedKind[] {
  return KINDS.map((kind) => ({
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    resource: kind.resource,
    typeNamed: (name) => cel.apiType(kind, name),
  }));
}

export function definedKinds({ spec }: Definition): readonly CheckedKind[] {
  const { group = '', names } = spec ?? {};
  return (spec?.versions ?? [])
    .filter(({ served }) => served)
    .map(({ name: version = '', schema }) => ({
      group,
      version,
      kind: names?.kind ?? '',
      resource: names?.plural ?? '',
      typeNamed: (name) => customType(name, schema?.openAPIV3Schema),
    }));
}

/** The metadata type is the standard one, whatever the schema declares. */
function customType(name: string, schema: apiextensions.JSONSchemaProps | undefined): cel.CelType | undefined {
  const own = schema && cel.schemaType(schema as cel.TypedSchema, { name, isResourceRoot: true });
  const metadata = cel.apiType(meta.ObjectMeta, `${name}.metadata`);
  if (own === undefined || metadata === undefined) return undefined;
  return cel.objectType(name, (field) => (field === 'metadata' ? { type: metadata, property: field } : own.traits.fields?.(field)));
}

/** By group, version and kind. Wildcard rules match no kinds here. */
export function kindsOf(rules: readonly Rule[], allKinds: readonly CheckedKind[]): readonly CheckedKind[] {
  const kinds = new Set(rules.flatMap((rule) => ruleKinds(rule, allKinds).slice(0, MAX_KINDS)));
  return [...kinds].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function ruleKinds({ apiGroups = [], apiVersions = [], resources = [] }: Rule, allKinds: readonly CheckedKind[]): readonly CheckedKind[] {
  if ([...apiGroups, ...apiVersions].some((part) => part.includes('*'))) return [];
  return allKinds.filter(
    ({ group, version, resource }) => apiGroups.includes(group) && apiVersions.includes(version) && resources.includes(resource),
  );
}

function sortKey(kind: CheckedKind): string {
  return `${apiVersionOf(kind)}/${kind.kind}`;
}
