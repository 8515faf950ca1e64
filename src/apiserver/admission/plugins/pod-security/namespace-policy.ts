import { FieldError, Path } from '#machinery';
import type { Level, Standard } from './evaluate.ts';

/** The standards that apply to a namespace's pods. */
export interface NamespacePolicy {
  /** Violating pods are rejected. */
  readonly enforce: Standard;
  /** Violations are recorded in the audit log. */
  readonly audit: Standard;
  /** Violations return a warning to the client. */
  readonly warn: Standard;
}

export interface ParsedPolicy {
  readonly policy: NamespacePolicy;
  /** Invalid labels. */
  readonly errors: readonly FieldError[];
}

const PREFIX = 'pod-security.kubernetes.io/';
const LEVELS: readonly Level[] = ['privileged', 'baseline', 'restricted'];

type Labels = Readonly<Record<string, string>>;

const NO_LABELS: Labels = {};
const PRIVILEGED: Standard = { level: 'privileged', version: 'latest' };

/** The standards of namespaces without labels, unless the plugin's configuration says otherwise. */
export const PRIVILEGED_POLICY: NamespacePolicy = { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED };

const policies = new WeakMap<NamespacePolicy, WeakMap<Labels, ParsedPolicy>>();

/** The policy in a namespace's labels, and the default where they are absent. */
export function policyOf(labels: Labels = NO_LABELS, defaults: NamespacePolicy = PRIVILEGED_POLICY): ParsedPolicy {
  let byLabels = policies.get(defaults);
  if (byLabels === undefined) {
    byLabels = new WeakMap();
    policies.set(defaults, byLabels);
  }
  let policy = byLabels.get(labels);
  if (policy === undefined) {
    policy = parsePolicy(labels, defaults);
    byLabels.set(labels, policy);
  }
  return policy;
}

function parsePolicy(labels: Labels, defaults: NamespacePolicy): ParsedPolicy {
  const errors: FieldError[] = [];
  const standard = (mode: keyof NamespacePolicy, onError: Level) =>
    standardOf(mode, labels, { errors, onError, byDefault: defaults[mode] });
  const enforce = standard('enforce', 'restricted');
  const audit = standard('audit', 'privileged');
  const warn = standard('warn', 'privileged');
  return { policy: { enforce, audit, warn: warnedAs(labels, enforce, warn) }, errors };
}

interface LabelRead {
  readonly errors: FieldError[];
  /** The level used for an unknown label value: restricted where it enforces, privileged where it only warns. */
  readonly onError: Level;
  readonly byDefault: Standard;
}

export function levelProblem(level: string): string | undefined {
  return LEVELS.includes(level as Level) ? undefined : `must be one of ${LEVELS.join(', ')}`;
}

export function versionProblem(version: string): string | undefined {
  return version === 'latest' || /^v1\.(\d|[1-9]\d*)$/.test(version) ? undefined : 'must be "latest" or "v1.x"';
}

function standardOf(mode: string, labels: Labels, { errors, onError, byDefault }: LabelRead): Standard {
  /** The value of a label, or the default for an invalid one. */
  const read = <T extends string>(label: string, problemOf: (value: string) => string | undefined, [absent, wrong]: readonly [T, T]): T => {
    const value = labels[label];
    const problem = value === undefined ? undefined : problemOf(value);
    if (problem !== undefined) errors.push(FieldError.invalid(Path.of('metadata', 'labels').key(label), value, problem));
    return problem === undefined ? ((value ?? absent) as T) : wrong;
  };
  const level = read(PREFIX + mode, levelProblem, [byDefault.level, onError]);
  return { level, version: read(`${PREFIX}${mode}-version`, versionProblem, [byDefault.version, 'latest']) };
}

/** Templates are never rejected: unless `warn` is set, violations of the enforced level produce warnings. */
function warnedAs(labels: Labels, enforce: Standard, warn: Standard): Standard {
  const level = labels[`${PREFIX}enforce`];
  const isStricter = LEVELS.indexOf(enforce.level) > LEVELS.indexOf(warn.level);
  if (labels[`${PREFIX}warn`] !== undefined || !LEVELS.includes(level as Level) || !isStricter) return warn;
  return { level: enforce.level, version: labels[`${PREFIX}warn-version`] === undefined ? enforce.version : warn.version };
}

/** Whether the first level is stricter than the second. */
export function isStricter(a: Level, b: Level): boolean {
  return LEVELS.indexOf(a) > LEVELS.indexOf(b);
}
