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
const policies = new WeakMap<Labels, ParsedPolicy>();

/** The policy in a namespace's labels; privileged where they are absent. */
export function policyOf(labels: Labels = NO_LABELS): ParsedPolicy {
  let policy = policies.get(labels);
  if (policy === undefined) {
    policy = parsePolicy(labels);
    policies.set(labels, policy);
  }
  return policy;
}

function parsePolicy(labels: Labels): ParsedPolicy {
  const errors: FieldError[] = [];
  const enforce = standardOf('enforce', labels, { errors, onError: 'restricted' });
  const audit = standardOf('audit', labels, { errors, onError: 'privileged' });
  const warn = standardOf('warn', labels, { errors, onError: 'privileged' });
  return { policy: { enforce, audit, warn: warnedAs(labels, enforce, warn) }, errors };
}

interface LabelRead {
  readonly errors: FieldError[];
  /** The level used for an unknown label value: restricted where it enforces, privileged where it only warns. */
  readonly onError: Level;
}

function standardOf(mode: string, labels: Labels, { errors, onError }: LabelRead): Standard {
  const report = (label: string, why: string) =>
    errors.push(FieldError.invalid(Path.of('metadata', 'labels').key(label), labels[label], why));
  const labelValue = labels[PREFIX + mode];
  const isLevel = labelValue === undefined || LEVELS.includes(labelValue as Level);
  if (!isLevel) report(PREFIX + mode, `must be one of ${LEVELS.join(', ')}`);
  const version = labels[`${PREFIX}${mode}-version`] ?? 'latest';
  const isVersion = version === 'latest' || /^v1\.(\d|[1-9]\d*)$/.test(version);
  if (!isVersion) report(`${PREFIX}${mode}-version`, 'must be "latest" or "v1.x"');
  return { level: isLevel ? ((labelValue ?? 'privileged') as Level) : onError, version: isVersion ? version : 'latest' };
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
