import { pushAll } from '#base';
import { FieldError, type Path } from '#machinery';
import type { ManagedFieldsEntry } from './object-meta.ts';

const MAX_MANAGER_LENGTH = 128;
const MAX_SUBRESOURCE_LENGTH = 256;
const SIMPLE = /^[ -~]*$/;
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

export function validateManagedFields(entries: readonly ManagedFieldsEntry[], path: Path): FieldError[] {
  const errors: FieldError[] = [];
  entries.forEach((entry, i) => {
    if (isPlain(entry)) return;
    const at = path.index(i);
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(FieldError.invalid(at.child('operation'), entry.operation ?? '', 'must be `Apply` or `Update`'));
    }
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
      errors.push(FieldError.invalid(at.child('fieldsType'), entry.fieldsType, 'must be `FieldsV1`'));
    }
    if (entry.manager) pushAll(errors, validateFieldManager(entry.manager, at.child('manager')));
    if (entry.subresource && Buffer.byteLength(entry.subresource) > MAX_SUBRESOURCE_LENGTH) {
      errors.push(FieldError.tooLong(at.child('subresource'), MAX_SUBRESOURCE_LENGTH));
    }
  });
  return errors;
}

/** Whether an entry is certainly valid, as all entries written by the server. */
function isPlain({ operation, fieldsType, manager = '', subresource }: ManagedFieldsEntry): boolean {
  if ((operation !== 'Update' && operation !== 'Apply') || fieldsType !== 'FieldsV1') return false;
  return manager.length <= MAX_MANAGER_LENGTH && SIMPLE.test(manager) && (subresource === undefined || subresource === 'status');
}

/** A field manager's name: short and printable. Empty means unset. */
export function validateFieldManager(manager: string, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (manager.length <= MAX_MANAGER_LENGTH && SIMPLE.test(manager)) return errors;
  if (Buffer.byteLength(manager) > MAX_MANAGER_LENGTH) errors.push(FieldError.tooLong(path, MAX_MANAGER_LENGTH));
  for (const match of manager.matchAll(UNPRINTABLE)) {
    const position = Buffer.byteLength(manager.slice(0, match.index));
    errors.push(FieldError.invalid(path, manager, `invalid character ${codePointText(match[0])} (at position ${position})`));
  }
  return errors;
}

function codePointText(rune: string): string {
  const code = rune.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
