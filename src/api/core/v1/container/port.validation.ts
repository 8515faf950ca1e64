import { checkPortName, checkPortNumber, type FieldError, type Path } from '#machinery';
import { invalidErrors } from '../../../field-checks.ts';

/** A port number, or the name of a container port. */
export function validatePortNumberOrName(path: Path, port: number | string): readonly FieldError[] {
  return invalidErrors(path, port, typeof port === 'number' ? checkPortNumber(port) : checkPortName(port));
}
