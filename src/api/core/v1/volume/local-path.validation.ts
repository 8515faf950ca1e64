import type { FieldReport } from '../../../field-report.ts';

/** A path that stays where it is: no step upwards. */
export function validateNoBacksteps(path: string, at: FieldReport): void {
  if (hasBacksteps(path)) at.invalid(path, "must not contain '..'");
}

export function hasBacksteps(path: string): boolean {
  return path.includes('..') && path.split('/').includes('..');
}

/** A relative path that only leads downwards. */
export function validateDescendingPath(path: string, at: FieldReport): void {
  if (path.startsWith('/')) at.invalid(path, 'must be a relative path');
  validateNoBacksteps(path, at);
}

/** A descending path that does not look like the bookkeeping files that volumes keep beside their content. */
export function validateNonReservedPath(path: string, at: FieldReport): void {
  validateDescendingPath(path, at);
  if (path.startsWith('..') && !path.startsWith('../')) at.invalid(path, "must not start with '..'");
}
