import { pushAll } from '#base';
import { checkLabelKey, checkLabelValue, FieldError, itemErrors, MAX_FIELD_ERRORS, type Path } from '#machinery';
import type { LabelSelector } from './label-selector.ts';
import type { LabelSelectorRequirement } from './label-selector-requirement.ts';

/** Valid label sets. They stay with an object through all updates, and would be validated on each. */
const valid = new WeakSet<object>();
const NO_LABELS: Readonly<Record<string, string>> = {};

export function validateLabels(labels: Readonly<Record<string, string>> = NO_LABELS, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (valid.has(labels)) return errors;
  for (const key of Object.keys(labels)) {
    if (errors.length >= MAX_FIELD_ERRORS) return errors;
    for (const message of checkLabelKey(key)) errors.push(FieldError.invalid(path, key, message));
    const value = labels[key] ?? '';
    for (const message of checkLabelValue(value)) errors.push(FieldError.invalid(path, value, message));
  }
  if (errors.length === 0) valid.add(labels);
  return errors;
}

export function validateLabelName(name: string | undefined, path: Path): FieldError[] {
  return checkLabelKey(name ?? '').map((message) => FieldError.invalid(path, name ?? '', message));
}

export interface LabelSelectorRules {
  /** For objects stored before values were validated. */
  readonly allowInvalidValues?: boolean;
  readonly allowUnknownOperators?: boolean;
}

export function validateLabelSelector(selector: LabelSelector | undefined, path: Path, rules: LabelSelectorRules = {}): FieldError[] {
  if (!selector) return [];
  const errors = validateLabels(selector.matchLabels, path.child('matchLabels'));
  const validate = (requirement: LabelSelectorRequirement, i: number) =>
    validateLabelSelectorRequirement(requirement, path.child('matchExpressions').index(i), rules);
  pushAll(errors, itemErrors(selector.matchExpressions ?? [], validate));
  return errors;
}

export function validateLabelSelectorRequirement(
  requirement: LabelSelectorRequirement,
  path: Path,
  rules: LabelSelectorRules = {},
): FieldError[] {
  const errors = validateSelectorOperator(requirement, path, rules);
  pushAll(errors, validateLabelName(requirement.key, path.child('key')));
  if (rules.allowInvalidValues) return errors;
  requirement.values?.forEach((value, i) => {
    for (const message of checkLabelValue(value)) errors.push(FieldError.invalid(path.child('values').index(i), value, message));
  });
  return errors;
}

/** Validates the operator of a requirement and whether it allows values, for label and field selectors. */
export function validateSelectorOperator(
  { operator, values = [] }: { readonly operator?: string; readonly values?: readonly string[] },
  path: Path,
  rules: LabelSelectorRules = {},
): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [FieldError.required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [FieldError.forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return rules.allowUnknownOperators
        ? []
        : [FieldError.invalid(path.child('operator'), operator ?? '', 'not a valid selector operator')];
  }
}
