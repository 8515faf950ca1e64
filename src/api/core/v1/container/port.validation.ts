import { checkPortName, checkPortNumber, type FieldError, type Path } from '#machinery';
import { invalids } from '../../../field-checks.ts';

/** A port by number, or by the name it has in the pod. */
export function validatePortNumberOrName(path: Path, port: number | string): readonly FieldError[] {
  return invalids(path, port, typeof port === 'number' ? checkPortNumber(port) : checkPortName(port));
}
