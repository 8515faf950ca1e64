import { checkPortName, checkPortNumber, type FieldError, type Path } from '#machinery';
import { invalids } from '../../../field-checks.ts';

/** A port number, or the name of a container port. */
export function validatePortNumberOrName(path: Path, port: number | string): readonly FieldError[] {
  return invalids(path, port, typeof port === 'number' ? checkPortNumber(port) : checkPortName(port));
}
