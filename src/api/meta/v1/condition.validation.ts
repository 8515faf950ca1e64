import { pushAll } from '#base';
import { FieldError, type Path, regexText } from '#machinery';
import type { Condition } from './condition.ts';
import { validateLabelName } from './label.validation.ts';

const STATUSES = ['False', 'True', 'Unknown'];
const MAX_REASON_LENGTH = 1024;
const MAX_MESSAGE_LENGTH = 32 * 1024;
const REASON_FORMAT = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
// bounded: one repetition, between two ends.
const REASON = new RegExp(`^${REASON_FORMAT}$`);
const REASON_MESSAGE = regexText(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  REASON_FORMAT,
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
);

export function validateConditions(conditions: readonly Condition[] = [], path: Path): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  conditions.forEach((condition, i) => {
    if (seen.has(condition.type)) errors.push(FieldError.duplicate(path.index(i).child('type'), condition.type));
    seen.add(condition.type);
    pushAll(errors, validateCondition(condition, path.index(i)));
  });
  return errors;
}

export function validateCondition(condition: Condition, path: Path): FieldError[] {
  const errors = validateLabelName(condition.type, path.child('type'));
  if (!STATUSES.includes(condition.status)) {
    errors.push(FieldError.notSupported(path.child('status'), condition.status ?? '', STATUSES));
  }
  if ((condition.observedGeneration ?? 0) < 0) {
    errors.push(
      FieldError.invalid(path.child('observedGeneration'), condition.observedGeneration, 'must be greater than or equal to zero'),
    );
  }
  if (!condition.lastTransitionTime) errors.push(FieldError.required(path.child('lastTransitionTime')));
  pushAll(errors, validateReason(condition.reason, path.child('reason')));
  if (Buffer.byteLength(condition.message ?? '') > MAX_MESSAGE_LENGTH) {
    errors.push(FieldError.tooLong(path.child('message'), MAX_MESSAGE_LENGTH));
  }
  return errors;
}

function validateReason(reason: string | undefined, path: Path): FieldError[] {
  if (!reason) return [FieldError.required(path)];
  const errors = REASON.test(reason) ? [] : [FieldError.invalid(path, reason, REASON_MESSAGE)];
  if (Buffer.byteLength(reason) > MAX_REASON_LENGTH) errors.push(FieldError.tooLong(path, MAX_REASON_LENGTH));
  return errors;
}
