import {
  aggregateFieldErrors,
  ConfigurationReader,
  checkDns1123Subdomain,
  FieldError,
  type Fields,
  goQuote,
  isJsonObject,
  Path,
  parseYaml,
} from '#machinery';
import { LEVELS, type Level, STAGES, type Stage } from './audit-event.ts';

/** An audit policy: the first matching rule decides. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  readonly omitStages: readonly Stage[];
  readonly omitManagedFields: boolean;
  /** Unknown fields of the file; upstream ignores them with a warning. */
  readonly unknownFields: readonly string[];
}

export interface AuditRule {
  readonly level: Level;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly Stage[];
  readonly omitManagedFields: boolean | undefined;
}

export interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

const API_VERSION = 'audit.k8s.io/v1';
const POLICY_FIELDS = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'];
const RULE_FIELDS = [
  ...['level', 'users', 'userGroups', 'verbs', 'resources', 'namespaces', 'nonResourceURLs'],
  ...['omitStages', 'omitManagedFields'],
];
const RESOURCE_FIELDS = ['group', 'resources', 'resourceNames'];

/** Parses a policy file. Throws with upstream's messages. */
export function parseAuditPolicy(text: string, file: string): AuditPolicy {
  try {
    return readPolicy(text);
  } catch (error) {
    throw new Error(`loading audit policy file: ${(error as Error).message}: from file ${file}`, { cause: error });
  }
}

function readPolicy(text: string): AuditPolicy {
  const fields = documentOf(text);
  checkKind(fields);
  const reader = new PolicyReader();
  const policy = reader.policy(fields);
  if (reader.problems.length > 0) throw new Error(`failed decoding: ${reader.problems.join('; ')}`);
  const errors = validatePolicy(policy);
  if (errors.length > 0) throw new Error(aggregateFieldErrors(errors));
  if (policy.rules.length === 0) throw new Error('loaded illegal policy with 0 rules');
  return policy;
}

function documentOf(text: string): Fields {
  let value: unknown;
  try {
    value = parseYaml(Buffer.from(text)).value;
  } catch (error) {
    throw new Error(`failed decoding: ${(error as Error).message}`, { cause: error });
  }
  if (!isJsonObject(value as never)) throw new Error("failed decoding: Object 'Kind' is missing: the file holds no object");
  return value as Fields;
}

function checkKind({ kind, apiVersion }: Fields): void {
  if (!kind) throw new Error("failed decoding: Object 'Kind' is missing");
  if (!apiVersion) throw new Error("failed decoding: Object 'apiVersion' is missing");
  if (kind === 'Policy' && apiVersion === API_VERSION) return;
  throw new Error(`failed decoding: no kind ${goQuote(String(kind))} is registered for version ${goQuote(String(apiVersion))}`);
}

class PolicyReader extends ConfigurationReader {
  readonly unknownFields: string[] = [];

  policy(fields: Fields): AuditPolicy {
    this.#recordUnknownFields(fields, POLICY_FIELDS, '');
    return {
      rules: this.list(fields.rules, 'rules').map((rule, i) => this.#rule(this.object(rule, `rules[${i}]`), `rules[${i}]`)),
      omitStages: this.#texts(fields.omitStages, 'omitStages') as readonly Stage[],
      omitManagedFields: this.boolean(fields.omitManagedFields, 'omitManagedFields', false),
      unknownFields: this.unknownFields,
    };
  }

  #rule(fields: Fields, path: string): AuditRule {
    this.#recordUnknownFields(fields, RULE_FIELDS, path);
    const texts = (name: string) => this.#texts(fields[name], `${path}.${name}`);
    return {
      level: this.text(fields.level, `${path}.level`, '') as Level,
      users: texts('users'),
      userGroups: texts('userGroups'),
      verbs: texts('verbs'),
      resources: this.list(fields.resources, `${path}.resources`).map((entry, i) => this.#resources(entry, `${path}.resources[${i}]`)),
      namespaces: texts('namespaces'),
      nonResourceURLs: texts('nonResourceURLs'),
      omitStages: texts('omitStages') as readonly Stage[],
      omitManagedFields:
        fields.omitManagedFields === undefined ? undefined : this.boolean(fields.omitManagedFields, `${path}.omitManagedFields`, false),
    };
  }

  #resources(value: unknown, path: string): GroupResources {
    const fields = this.object(value, path);
    this.#recordUnknownFields(fields, RESOURCE_FIELDS, path);
    return {
      group: this.text(fields.group, `${path}.group`, ''),
      resources: this.#texts(fields.resources, `${path}.resources`),
      resourceNames: this.#texts(fields.resourceNames, `${path}.resourceNames`),
    };
  }

  #texts(value: unknown, path: string): readonly string[] {
    return this.list(value, path).map((item, i) => this.text(item, `${path}[${i}]`, ''));
  }

  #recordUnknownFields(fields: Fields, names: readonly string[], path: string): void {
    for (const name of Object.keys(fields)) if (!names.includes(name)) this.unknownFields.push(path === '' ? name : `${path}.${name}`);
  }
}

function validatePolicy({ omitStages, rules }: AuditPolicy): readonly FieldError[] {
  return [...stageErrors(omitStages, Path.of('omitStages')), ...rules.flatMap((rule, i) => ruleErrors(rule, Path.of('rules').index(i)))];
}

function ruleErrors(rule: AuditRule, path: Path): readonly FieldError[] {
  const { level, nonResourceURLs, resources, namespaces } = rule;
  const urls = path.child('nonResourceURLs');
  const isMixed = nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0);
  const mixed = 'rules cannot apply to both regular resources and non-resource URLs';
  return [
    ...levelErrors(level, path.child('level')),
    ...nonResourceURLs.flatMap((url, i) => urlErrors(url, urls.index(i))),
    ...resources.flatMap((entry) => resourceErrors(entry, path.child('resources'))),
    ...stageErrors(rule.omitStages, path.child('omitStages')),
    ...(isMixed ? [FieldError.invalid(urls, nonResourceURLs, mixed)] : []),
  ];
}

function levelErrors(level: string, path: Path): readonly FieldError[] {
  if (level === '') return [FieldError.required(path)];
  return (LEVELS as readonly string[]).includes(level) ? [] : [FieldError.notSupported(path, level, LEVELS)];
}

function urlErrors(url: string, path: Path): readonly FieldError[] {
  if (url === '*') return [];
  const errors: FieldError[] = [];
  if (!url.startsWith('/')) errors.push(FieldError.invalid(path, url, "non-resource URL rules must begin with a '/' character"));
  if (url.slice(0, -1).includes('*'))
    errors.push(FieldError.invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule"));
  return errors;
}

function resourceErrors({ group, resources, resourceNames }: GroupResources, path: Path): readonly FieldError[] {
  const errors: FieldError[] = [];
  const problems = group === '' || group === '*' ? [] : checkDns1123Subdomain(group);
  if (problems.length > 0) errors.push(FieldError.invalid(path.child('group'), group, problems.join(',')));
  if (resourceNames.length > 0 && resources.length === 0)
    errors.push(FieldError.invalid(path.child('resourceNames'), resourceNames, 'using resourceNames requires at least one resource'));
  return errors;
}

function stageErrors(stages: readonly string[], path: Path): readonly FieldError[] {
  const detail = `allowed stages are ${STAGES.join(',')}`;
  return stages.flatMap((stage, i) =>
    (STAGES as readonly string[]).includes(stage) ? [] : [FieldError.invalid(path.index(i), stage, detail)],
  );
}
