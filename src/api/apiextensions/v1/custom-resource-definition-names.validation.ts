import { pushAll } from '#base';
import { checkDns1035Label, FieldError, type Path } from '#machinery';
import type { CustomResourceDefinitionNames } from './custom-resource-definition-names.ts';

/** Validates the names that are set, not which ones are required. */
export function validateNames(names: CustomResourceDefinitionNames, path: Path): FieldError[] {
  const { kind = '', listKind = '' } = names;
  const errors = [...labelErrors(names.plural, path.child('plural')), ...labelErrors(names.singular, path.child('singular'))];
  pushAll(errors, kindErrors(kind, path.child('kind')), kindErrors(listKind, path.child('listKind')));
  for (const [i, name] of (names.shortNames ?? []).entries()) pushAll(errors, joined(name, name, path.child('shortNames').index(i)));
  if (kind !== '' && kind === listKind) {
    errors.push(FieldError.invalid(path.child('listKind'), listKind, 'kind and listKind may not be the same'));
  }
  for (const [i, category] of (names.categories ?? []).entries())
    pushAll(errors, joined(category, category, path.child('categories').index(i)));
  return errors;
}

function labelErrors(name: string | undefined, path: Path): FieldError[] {
  return name ? joined(name, name, path) : [];
}

function kindErrors(kind: string, path: Path): FieldError[] {
  const problems = kind === '' ? [] : checkDns1035Label(kind.toLowerCase());
  if (problems.length === 0) return [];
  return [FieldError.invalid(path, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

function joined(value: string, checked: string, path: Path): FieldError[] {
  const problems = checkDns1035Label(checked);
  return problems.length === 0 ? [] : [FieldError.invalid(path, value, problems.join(','))];
}
