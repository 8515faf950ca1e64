import { pushAll } from '#base';
import { FieldError, itemErrors, type JsonValue, nameIsDnsLabel, nameIsDnsSubdomain, Path, semanticEqual } from '#machinery';
import { invalidErrors, requiredName } from '../../field-checks.ts';
import { goStruct } from '../../go-struct.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import {
  FlowDistinguisherMethod,
  type FlowSchema,
  FlowSchemaSpec,
  type NonResourcePolicyRule,
  type PolicyRulesWithSubjects,
  type ResourcePolicyRule,
  type ServiceAccountSubject,
  type Subject,
} from './flow-schema.ts';
import { MANDATORY_FLOW_SCHEMAS } from './mandatory.ts';

const MAX_PRECEDENCE = 10_000;
const METHODS = ['ByNamespace', 'ByUser'];
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const SUBJECT_KINDS = ['Group', 'ServiceAccount', 'User'];
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validateFlowSchema(schema: FlowSchema): FieldError[] {
  return [
    ...validateObjectMeta(schema.metadata, META),
    ...validateSpec(schema),
    ...validateMandatory(schema),
    ...validateFlowConditions(schema.status?.conditions ?? []),
  ];
}

export const validateFlowSchemaUpdate = (schema: FlowSchema) => validateFlowSchema(schema);
export const validateFlowSchemaStatusUpdate = (schema: FlowSchema) => validateFlowConditions(schema.status?.conditions ?? []);

function validateMandatory({ metadata, spec }: FlowSchema): FieldError[] {
  const fixed = MANDATORY_FLOW_SCHEMAS.get(metadata.name);
  if (!fixed || semanticEqual((spec ?? {}) as JsonValue, fixed as JsonValue, FlowSchemaSpec)) return [];
  return [FieldError.invalid(SPEC, goStruct(FlowSchemaSpec, spec ?? {}), `spec of '${metadata.name}' must equal the fixed value`)];
}

/** Conditions of FlowSchemas and PriorityLevelConfigurations: unique types. */
export function validateFlowConditions(conditions: readonly { readonly type?: string }[]): FieldError[] {
  const seen = new Set<string>();
  return itemErrors(conditions, ({ type = '' }, i) => {
    const path = Path.of('status', 'conditions').index(i).child('type');
    const errors = seen.has(type) ? [FieldError.duplicate(path, type)] : [];
    seen.add(type);
    return type === '' ? [...errors, FieldError.required(path)] : errors;
  });
}

function validateSpec({ metadata, spec }: FlowSchema): FieldError[] {
  const { distinguisherMethod, priorityLevelConfiguration, rules = [] } = spec ?? ({} as FlowSchemaSpec);
  const errors = validatePrecedence(metadata.name, spec?.matchingPrecedence ?? 0);
  if (distinguisherMethod && !METHODS.includes(distinguisherMethod.type)) {
    const printed = goStruct(FlowDistinguisherMethod, distinguisherMethod);
    errors.push(FieldError.notSupported(SPEC.child('distinguisherMethod', 'type'), printed, METHODS));
  }
  const level = priorityLevelConfiguration?.name;
  const path = SPEC.child('priorityLevelConfiguration', 'name');
  if (level) pushAll(errors, invalidErrors(path, level, nameIsDnsSubdomain(level, false)));
  else errors.push(FieldError.required(path, 'must reference a priority level'));
  return [...errors, ...itemErrors(rules, (rule, i) => validateRule(SPEC.child('rules').index(i), rule))];
}

function validatePrecedence(name: string, precedence: number): FieldError[] {
  const invalid = (detail: string) => FieldError.invalid(SPEC.child('matchingPrecedence'), precedence, detail);
  if (precedence <= 0) return [invalid('must be a positive value')];
  if (precedence > MAX_PRECEDENCE) return [invalid(`must not be greater than ${MAX_PRECEDENCE}`)];
  return precedence === 1 && name !== 'exempt' ? [invalid("only the schema named 'exempt' may have matchingPrecedence 1")] : [];
}

function validateRule(path: Path, { subjects, resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects): FieldError[] {
  const errors = subjects?.length
    ? itemErrors(subjects, (subject, i) => validateSubject(path.child('subjects').index(i), subject))
    : [FieldError.required(path.child('subjects'), 'subjects must contain at least one value')];
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.push(FieldError.required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  }
  return [
    ...errors,
    ...itemErrors(resourceRules, (rule, i) => validateResourceRule(path.child('resourceRules').index(i), rule)),
    ...itemErrors(nonResourceRules, (rule, i) => validateUrlRule(path.child('nonResourceRules').index(i), rule)),
  ];
}

function validateSubject(path: Path, subject: Subject): FieldError[] {
  const forbid = (field: 'serviceAccount' | 'user' | 'group', kind: string) =>
    subject[field] ? [FieldError.forbidden(path.child(field), `${field} is forbidden when subject kind is not '${kind}'`)] : [];
  const account = () => forbid('serviceAccount', 'ServiceAccount');
  switch (subject.kind) {
    case 'ServiceAccount':
      return [
        ...validateAccount(path.child('serviceAccount'), subject.serviceAccount),
        ...forbid('user', 'User'),
        ...forbid('group', 'Group'),
      ];
    case 'User':
      return [...validateNamed(path, 'user', subject), ...account(), ...forbid('group', 'Group')];
    case 'Group':
      return [...validateNamed(path, 'group', subject), ...account(), ...forbid('user', 'User')];
    default:
      return [FieldError.notSupported(path.child('kind'), subject.kind ?? '', SUBJECT_KINDS)];
  }
}

function validateNamed(path: Path, field: 'user' | 'group', subject: Subject): FieldError[] {
  const named = subject[field];
  if (!named) return [FieldError.required(path.child(field), `${field} is required when subject kind is '${subject.kind}'`)];
  return named.name ? [] : [FieldError.required(path.child(field, 'name'))];
}

function validateAccount(path: Path, account: ServiceAccountSubject | undefined): FieldError[] {
  if (!account) return [FieldError.required(path, "serviceAccount is required when subject kind is 'ServiceAccount'")];
  const { name, namespace } = account;
  const errors = name === '*' ? [] : [...requiredName(path.child('name'), name, (value) => nameIsDnsSubdomain(value, false))];
  const at = path.child('namespace');
  if (!namespace) return [...errors, FieldError.required(at, 'must specify namespace for service account')];
  return [...errors, ...invalidErrors(at, namespace, nameIsDnsLabel(namespace, false))];
}

/** A list of names, or `*` alone. */
function validateWildcard(path: Path, list: readonly string[], { empty, others }: { empty: string; others: string }): FieldError[] {
  if (list.length === 0) return [FieldError.required(path, empty)];
  if (list.length === 1 || !list.includes('*')) return [];
  return [FieldError.invalid(path, list, `if '*' is present, must not specify other ${others}`)];
}

function validateVerbs(path: Path, verbs: readonly string[]): FieldError[] {
  const errors = validateWildcard(path, verbs, { empty: 'verbs must contain at least one value', others: 'verbs' });
  if (errors.length > 0 || verbs.includes('*') || verbs.every((verb) => VERBS.includes(verb))) return errors;
  return [FieldError.notSupported(path, verbs, VERBS)];
}

function validateResourceRule(path: Path, rule: ResourcePolicyRule): FieldError[] {
  const groups = { empty: 'resource rules must supply at least one api group', others: 'api groups' };
  const resources = { empty: 'resource rules must supply at least one resource', others: 'resources' };
  return [
    ...validateVerbs(path.child('verbs'), rule.verbs ?? []),
    ...validateWildcard(path.child('apiGroups'), rule.apiGroups ?? [], groups),
    ...validateWildcard(path.child('resources'), rule.resources ?? [], resources),
    ...validateNamespaces(path.child('namespaces'), rule),
  ];
}

function validateNamespaces(path: Path, { namespaces, clusterScope }: ResourcePolicyRule): FieldError[] {
  const list = namespaces ?? [];
  if (list.length === 0 && clusterScope) return [];
  const empty = 'resource rules that are not cluster scoped must supply at least one namespace';
  const errors = validateWildcard(path, list, { empty, others: 'namespaces' });
  if (errors.length > 0 || list.includes('*')) return errors;
  const intro = "each member of this list must be '*' or a DNS-1123 label; ";
  return itemErrors(list, (name, i) =>
    invalidErrors(
      path.index(i),
      name,
      nameIsDnsLabel(name, false).map((problem) => intro + problem),
    ),
  );
}

function validateUrlRule(path: Path, { verbs, nonResourceURLs }: NonResourcePolicyRule): FieldError[] {
  const urls = nonResourceURLs ?? [];
  const at = path.child('nonResourceURLs');
  const empty = 'nonResourceURLs must contain at least one value';
  const errors = [
    ...validateVerbs(path.child('verbs'), verbs ?? []),
    ...validateWildcard(at, urls, { empty, others: 'non-resource URLs' }),
  ];
  if (urls.includes('*')) return errors;
  return [...errors, ...itemErrors(urls, (url, i) => validateUrl(at.index(i), url))];
}

function validateUrl(path: Path, url: string): FieldError[] {
  const problem = urlProblem(url);
  return problem === undefined ? [] : [FieldError.invalid(path, url, problem)];
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}
