import { checkLabelKey, OMITTED, validateDomainPrefixedPath } from '#machinery';
import { validatePodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.validation.ts';
import type { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { countIndexes } from './index-list.ts';
import {
  type JobSpec,
  type PodFailurePolicyOnExitCodesRequirement,
  type PodFailurePolicyOnPodConditionsPattern,
  type PodFailurePolicyRule,
  SuccessPolicy,
  type SuccessPolicyRule,
} from './job-spec.ts';

const MAX_INDEXED = 100_000;
/** From this number of completions on stricter limits keep a job's status small. */
const MANY_COMPLETIONS = 100_000;
const MAX_WITH_MANY = 10_000;
const MAX_MANAGED_BY = 63;
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_PATTERNS = 20;
const MAX_SUCCEEDED_INDEXES = 64 * 1024;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

/** The spec of a job or of a cron job's template; the selector is validated elsewhere. */
export function validateJobSpec(spec: JobSpec, at: FieldReport): void {
  for (const count of COUNTS) at.child(count).nonNegative(spec[count]);
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    at.child('backoffLimitPerIndex').required('when maxFailedIndexes is specified');
  }
  if (spec.managedBy !== undefined) validateManagedBy(spec.managedBy, at.child('managedBy'));
  validateCompletionMode(spec, at);
  if (spec.podFailurePolicy) validateFailurePolicy(spec, at.child('podFailurePolicy').child('rules'));
  if (spec.successPolicy) validateSuccessPolicy(spec, at.child('successPolicy'), spec.successPolicy);
  validateReplacementPolicy(spec, at.child('podReplacementPolicy'));
  validatePodTemplateSpec(spec.template ?? {}, at.child('template'));
  validateRestartPolicy(spec, at.child('template').child('spec').child('restartPolicy'));
}

function validateManagedBy(managedBy: string, at: FieldReport): void {
  at.add(validateDomainPrefixedPath(at.path, managedBy));
  if (Buffer.byteLength(managedBy) > MAX_MANAGED_BY) at.tooLong(MAX_MANAGED_BY);
}

function validateCompletionMode(spec: JobSpec, at: FieldReport): void {
  const { completionMode, backoffLimitPerIndex, maxFailedIndexes } = spec;
  if (completionMode !== undefined) at.child('completionMode').oneOf(completionMode, ['NonIndexed', 'Indexed']);
  if (completionMode === 'Indexed') validateIndexed(spec, at);
  if (completionMode !== undefined && completionMode !== 'NonIndexed') return;
  const detail = 'requires indexed completion mode';
  if (backoffLimitPerIndex !== undefined) at.child('backoffLimitPerIndex').invalid(backoffLimitPerIndex, detail);
  if (maxFailedIndexes !== undefined) at.child('maxFailedIndexes').invalid(maxFailedIndexes, detail);
}

function validateIndexed(spec: JobSpec, at: FieldReport): void {
  const { completions, parallelism = 0, maxFailedIndexes } = spec;
  if (completions === undefined) at.child('completions').required('when completion mode is Indexed');
  if (parallelism > MAX_INDEXED) {
    at.child('parallelism').invalid(parallelism, `must be less than or equal to ${MAX_INDEXED} when completion mode is Indexed`);
  }
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    at.child('maxFailedIndexes').invalid(maxFailedIndexes, 'must be less than or equal to completions');
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_INDEXED) {
    at.child('maxFailedIndexes').invalid(maxFailedIndexes, `must be less than or equal to ${MAX_INDEXED}`);
  }
  if ((completions ?? 0) > MANY_COMPLETIONS && spec.backoffLimitPerIndex !== undefined) validateManyCompletions(spec, at);
}

function validateManyCompletions({ parallelism = 0, maxFailedIndexes }: JobSpec, at: FieldReport): void {
  const detail = `must be less than or equal to ${MAX_WITH_MANY} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    at.child('maxFailedIndexes').required(`must be specified when completions is above ${MANY_COMPLETIONS}`);
  }
  if (parallelism > MAX_WITH_MANY) at.child('parallelism').invalid(parallelism, detail);
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_WITH_MANY) at.child('maxFailedIndexes').invalid(maxFailedIndexes, detail);
}

function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, at: FieldReport): void {
  const policy = template?.spec?.restartPolicy;
  if (!policy || policy === 'Always') at.required('valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') at.notSupported(policy, ['OnFailure', 'Never']);
  else if (podFailurePolicy && policy !== 'Never') at.invalid(policy, 'only "Never" is supported when podFailurePolicy is specified');
}

function validateReplacementPolicy({ podReplacementPolicy: policy, podFailurePolicy }: JobSpec, at: FieldReport): void {
  if (policy !== undefined) at.oneOf(policy, podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']);
}

function validateFailurePolicy(spec: JobSpec, at: FieldReport): void {
  const rules = spec.podFailurePolicy?.rules ?? [];
  if (rules.length > MAX_RULES) at.tooMany(rules.length, MAX_RULES);
  rules.forEach((rule, i) => {
    validateFailureRule(rule, at.index(i), spec);
  });
}

function validValues(values: readonly string[]): string {
  return `valid values: [${values.map((value) => `"${value}"`).join(' ')}]`;
}

function validateFailureRule({ action, onExitCodes, onPodConditions = [] }: PodFailurePolicyRule, at: FieldReport, spec: JobSpec): void {
  if (!action) at.child('action').required(validValues(ACTIONS));
  else if (action !== 'FailIndex') at.child('action').oneOf(action, ACTIONS);
  else if (spec.backoffLimitPerIndex === undefined) at.child('action').invalid(action, 'requires the backoffLimitPerIndex to be set');
  if (onExitCodes) validateExitCodes(onExitCodes, at.child('onExitCodes'), spec);
  if (onPodConditions.length > 0) validatePatterns(onPodConditions, at.child('onPodConditions'));
  if (onExitCodes && onPodConditions.length > 0) at.invalid(OMITTED, 'specifying both OnExitCodes and OnPodConditions is not supported');
  if (!onExitCodes && onPodConditions.length === 0) at.invalid(OMITTED, 'specifying one of OnExitCodes and OnPodConditions is required');
}

function validatePatterns(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], at: FieldReport): void {
  if (patterns.length > MAX_PATTERNS) at.tooMany(patterns.length, MAX_PATTERNS);
  patterns.forEach(({ type = '', status }, i) => {
    at.index(i).child('type').problems(type, checkLabelKey(type));
    if (!status) at.index(i).child('status').required(validValues(STATUSES));
    else at.index(i).child('status').oneOf(status, STATUSES);
  });
}

function validateExitCodes(requirement: PodFailurePolicyOnExitCodesRequirement, at: FieldReport, { template }: JobSpec): void {
  const { operator, containerName } = requirement;
  const values = requirement.values ?? [];
  if (!operator) at.child('operator').required(validValues(OPERATORS));
  else at.child('operator').oneOf(operator, OPERATORS);
  const containers = [...(template?.spec?.containers ?? []), ...(template?.spec?.initContainers ?? [])];
  if (containerName !== undefined && !containers.some(({ name }) => name === containerName)) {
    at.child('containerName').invalid(containerName, 'must be one of the container or initContainer names in the pod template');
  }
  const field = at.child('values');
  if (values.length === 0) field.invalid(requirement.values ?? null, 'at least one value is required');
  else if (values.length > MAX_EXIT_CODES) field.tooMany(values.length, MAX_EXIT_CODES);
  const seen = new Set<number>();
  values.forEach((value, i) => {
    if (operator === 'In' && value === 0) field.index(i).invalid(value, 'must not be 0 for the In operator');
    if (seen.has(value)) field.index(i).duplicate(value);
    seen.add(value);
  });
  if (values.some((value, i) => i > 0 && (values[i - 1] as number) > value)) field.invalid(values, 'must be ordered');
}

function validateSuccessPolicy(spec: JobSpec, at: FieldReport, policy: SuccessPolicy): void {
  if (spec.completionMode !== 'Indexed') {
    at.invalid(goStruct(SuccessPolicy, policy), 'requires indexed completion mode');
    return;
  }
  const rules = policy.rules ?? [];
  if (rules.length === 0) at.child('rules').required('at least one rules must be specified when the successPolicy is specified');
  if (rules.length > MAX_RULES) at.child('rules').tooMany(rules.length, MAX_RULES);
  rules.forEach((rule, i) => {
    validateSuccessRule(rule, at.child('rules').index(i), spec.completions ?? 0);
  });
}

function validateSuccessRule({ succeededCount, succeededIndexes }: SuccessPolicyRule, at: FieldReport, completions: number): void {
  if (succeededCount === undefined && succeededIndexes === undefined) {
    at.required('at least one of succeededCount or succeededIndexes must be specified');
  }
  const total = succeededIndexes === undefined ? 0 : validateIndexes(succeededIndexes, at.child('succeededIndexes'), completions);
  if (succeededCount === undefined) return;
  const field = at.child('succeededCount');
  field.nonNegative(succeededCount);
  if (succeededCount > completions) {
    field.invalid(succeededCount, `must be less than or equal to ${completions} (the number of specified completions)`);
  }
  if (succeededIndexes !== undefined && succeededCount > total) {
    const limit = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
    field.invalid(succeededCount, limit);
  }
}

function validateIndexes(list: string, at: FieldReport, completions: number): number {
  if (Buffer.byteLength(list) > MAX_SUCCEEDED_INDEXES) at.tooLong(MAX_SUCCEEDED_INDEXES);
  try {
    return countIndexes(list, completions);
  } catch (error) {
    at.invalid(list, `error parsing succeededIndexes: ${(error as Error).message}`);
    return 0;
  }
}
