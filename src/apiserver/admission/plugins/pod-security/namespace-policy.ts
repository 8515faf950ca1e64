import { FieldError, Path } from '#machinery';
import type { Level, Standard } from './evaluate.ts';

/** Which standards the pods of a namespace are held to. */
export interface NamespacePolicy {
  /** Pods that break it are refused. */
  readonly enforce: Standard;
  /** What breaks it is noted in the audit log. */
  readonly audit: Standard;
  /** Who makes what breaks it is warned. */
  readonly warn: Standard;
}

export interface ParsedPolicy {
  readonly policy: NamespacePolicy;
  /** What is wrong with the labels. */
  readonly errors: readonly FieldError[];
}

const PREFIX = 'pod-security.kubernetes.io/';
const LEVELS: readonly Level[] = ['privileged', 'baseline', 'restricted'];

type Labels = Readonly<Record<string, string>>;

const NO_LABELS: Labels = {};
const policies = new WeakMap<Labels, ParsedPolicy>();

/** What a namespace's labels say; where they do not, pods may do everything. */
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

interface Reading {
  readonly errors: FieldError[];
  /** What a level that nobody knows counts as: strict where it enforces, lenient where it only tells. */
  readonly onError: Level;
}

function standardOf(mode: string, labels: Labels, { errors, onError }: Reading): Standard {
  const refuse = (label: string, why: string) =>
    errors.push(FieldError.invalid(Path.of('metadata', 'labels').key(label), labels[label], why));
  const given = labels[PREFIX + mode];
  const isLevel = given === undefined || LEVELS.includes(given as Level);
  if (!isLevel) refuse(PREFIX + mode, `must be one of ${LEVELS.join(', ')}`);
  const version = labels[`${PREFIX}${mode}-version`] ?? 'latest';
  const isVersion = version === 'latest' || /^v1\.(\d|[1-9]\d*)$/.test(version);
  if (!isVersion) refuse(`${PREFIX}${mode}-version`, 'must be "latest" or "v1.x"');
  return { level: isLevel ? ((given ?? 'privileged') as Level) : onError, version: isVersion ? version : 'latest' };
}

/** Templates are never refused: without a word of its own, what is enforced of pods is warned of. */
function warnedAs(labels: Labels, enforce: Standard, warn: Standard): Standard {
  const level = labels[`${PREFIX}enforce`];
  const isStricter = LEVELS.indexOf(enforce.level) > LEVELS.indexOf(warn.level);
  if (labels[`${PREFIX}warn`] !== undefined || !LEVELS.includes(level as Level) || !isStricter) return warn;
  return { level: enforce.level, version: labels[`${PREFIX}warn-version`] === undefined ? enforce.version : warn.version };
}

/** Whether the first demands more than the second. */
export function isStricter(a: Level, b: Level): boolean {
  return LEVELS.indexOf(a) > LEVELS.indexOf(b);
}
