import { checkLabelKey, checkLabelValue, FieldError, itemErrors, type Path } from '#machinery';
import { invalidErrors } from '../../../field-checks.ts';
import { goStruct } from '../../../go-struct.ts';
import { TAINT_EFFECTS } from '../pod/toleration.validation.ts';
import { Taint } from './node.ts';

export function validateTaints(path: Path, taints: readonly Taint[]): FieldError[] {
  const seen = new Set<string>();
  return itemErrors(taints, (taint, i) => {
    const errors = validateTaint(path.index(i), taint);
    const key = `${taint.effect}\0${taint.key}`;
    if (seen.has(key)) {
      const duplicate = FieldError.duplicate(path.index(i), goStruct(Taint, taint));
      errors.push(duplicate.prefixDetail('taints must be unique by key and effect pair'));
    }
    seen.add(key);
    return errors;
  });
}

function validateTaint(path: Path, { key = '', value = '', effect = '' }: Taint): FieldError[] {
  const errors = [...invalidErrors(path.child('key'), key, checkLabelKey(key))];
  const problems = checkLabelValue(value);
  if (problems.length > 0) errors.push(FieldError.invalid(path.child('value'), value, problems.join(';')));
  if (effect === '') errors.push(FieldError.required(path.child('effect')));
  else if (!TAINT_EFFECTS.includes(effect)) errors.push(FieldError.notSupported(path.child('effect'), effect, TAINT_EFFECTS));
  return errors;
}
