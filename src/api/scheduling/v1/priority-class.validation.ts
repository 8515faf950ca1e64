import { FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable, requiredValue } from '../../field-checks.ts';
import { METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { PriorityClass } from './priority-class.ts';

const SYSTEM_PREFIX = 'system-';
const MAX_USER_PRIORITY = 1_000_000_000;
const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);
const POLICIES = ['PreemptLowerPriority', 'Never'];
const VALUE = Path.of('value');
const PREEMPTION = Path.of('preemptionPolicy');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validatePriorityClass(priorityClass: PriorityClass): FieldError[] {
  const { metadata, preemptionPolicy } = priorityClass;
  const value = priorityClass.value ?? 0;
  const errors = validateObjectMeta(metadata, META);
  const name = metadata.name ?? '';
  if (name.startsWith(SYSTEM_PREFIX)) {
    const problem = systemProblem(name, value, priorityClass.globalDefault ?? false);
    const reserved = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`;
    if (problem) errors.push(FieldError.forbidden(METADATA.child('name'), reserved));
  } else if (value > MAX_USER_PRIORITY) {
    errors.push(FieldError.forbidden(VALUE, `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`));
  }
  return preemptionPolicy === undefined ? errors : [...errors, ...requiredValue(PREEMPTION, preemptionPolicy, POLICIES)];
}

function systemProblem(name: string, value: number, globalDefault: boolean): string | undefined {
  const expected = SYSTEM_CLASSES.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export function validatePriorityClassUpdate(priorityClass: PriorityClass, old: PriorityClass): FieldError[] {
  const errors = validateObjectMetaUpdate(priorityClass.metadata, old.metadata);
  if ((priorityClass.value ?? 0) !== (old.value ?? 0)) errors.push(FieldError.forbidden(VALUE, 'may not be changed in an update.'));
  return [...errors, ...immutable(PREEMPTION, { value: priorityClass.preemptionPolicy, old: old.preemptionPolicy })];
}
