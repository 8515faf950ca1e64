import { checkLabelKey, checkLabelValue, type FieldError, type Path } from '#machinery';
import { FieldReport } from '../../../field-report.ts';
import type { Toleration } from './toleration.ts';

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Errors of tolerations that are not in a pod. */
export function tolerationErrors(tolerations: readonly Toleration[], path: Path): readonly FieldError[] {
  const report = FieldReport.on(path);
  validateTolerations(tolerations, report);
  return report.errors;
}

export function validateTolerations(tolerations: readonly Toleration[], at: FieldReport): void {
  tolerations.forEach((toleration, i) => {
    validateToleration(toleration, at.index(i));
  });
}

function validateToleration(toleration: Toleration, at: FieldReport): void {
  const { key, operator = '', effect = '', tolerationSeconds } = toleration;
  if (key) at.child('key').problems(key, checkLabelKey(key));
  else if (operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    at.child('operator').invalid(operator, detail);
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    at.child('effect').invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  validateOperator(toleration, at.child('operator'));
  if (effect) at.child('effect').oneOf(effect, TAINT_EFFECTS);
}

function validateOperator({ operator, value = '' }: Toleration, at: FieldReport): void {
  switch (operator) {
    case undefined:
    case '':
    case 'Equal': {
      const problems = checkLabelValue(value);
      if (problems.length > 0) at.invalid(value, problems.join(';'));
      break;
    }
    case 'Exists':
      if (value) at.invalid(value, "value must be empty when `operator` is 'Exists'");
      break;
    case 'Lt':
    case 'Gt':
      // Supported, but off by default in v1.36.
      at.notSupported(operator, ['Equal', 'Exists', 'Lt', 'Gt']);
      break;
    default:
      at.notSupported(operator, ['Equal', 'Exists']);
  }
}
