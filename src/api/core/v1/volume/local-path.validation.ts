import type { FieldReport } from '../../../field-report.ts';

/** A path without `..` elements. */
export function validateNoBacksteps(path: string, at: FieldReport): void {
  if (hasBacksteps(path)) at.invalid(path, "must not contain '..'");
}

export function hasBacksteps(path: string): boolean {
  return path.includes('..') && path.split('/').includes('..');
}

/** A relative path without `..` elements. */
export function validateDescendingPath(path: string, at: FieldReport): void {
  if (path.startsWith('/')) at.invalid(path, 'must be a relative path');
  validateNoBacksteps(path, at);
}

/** Such a path that does not look like the internal files of volumes. */
export function validateNonReservedPath(path: string, at: FieldReport): void {
  validateDescendingPath(path, at);
  if (path.startsWith('..') && !path.startsWith('../')) at.invalid(path, "must not start with '..'");
}
