import { pushAll } from '#base';
import { aggregateFieldErrors, FieldError } from '../errors/field-error.ts';
import { Path } from '../errors/field-path.ts';
import { compareBytes } from '../values/go-format.ts';
import { checkLabelKey, checkLabelValue } from '../values/names.ts';

/** Labels or annotations as an object carries them. */
export type Labels = Readonly<Record<string, string>>;

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

export type LabelPredicate = (labels: Labels) => boolean;

/** An invalid selector, with the API's message. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

export const BINARY_OPERATORS: readonly LabelOperator[] = ['in', 'notin', '=', '==', '!=', 'gt', 'lt'];
const ALL_OPERATORS: readonly LabelOperator[] = [...BINARY_OPERATORS, 'exists', '!'];

/** The requirement itself if it follows the rules. Throws SelectorError. */
export function checkedRequirement(requirement: LabelRequirement, path: Path = Path.none): LabelRequirement {
  const errors = validateRequirement(requirement, path);
  if (errors.length > 0) throw new SelectorError(aggregateFieldErrors(errors));
  return requirement;
}

export function validateRequirement({ key, operator, values }: LabelRequirement, path: Path): FieldError[] {
  const keyProblems = checkLabelKey(key);
  const errors = keyProblems.length === 0 ? [] : [FieldError.invalid(path.child('key'), key, keyProblems.join('; '))];
  const valuesPath = path.child('values');
  if (ALL_OPERATORS.includes(operator)) pushAll(errors, validateValues(operator, values, valuesPath));
  else errors.push(FieldError.notSupported(path.child('operator'), operator, ALL_OPERATORS));
  values.forEach((value, i) => {
    const problems = checkLabelValue(value);
    if (problems.length > 0) errors.push(FieldError.invalid(valuesPath.index(i).key(key), value, problems.join('; ')));
  });
  return errors;
}

function validateValues(operator: LabelOperator, values: readonly string[], path: Path): FieldError[] {
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length > 0 ? [] : [FieldError.invalid(path, values, "for 'in', 'notin' operators, values set can't be empty")];
    case '=':
    case '==':
    case '!=':
      return values.length === 1 ? [] : [FieldError.invalid(path, values, 'exact-match compatibility requires one single value')];
    case 'exists':
    case '!':
      return values.length === 0 ? [] : [FieldError.invalid(path, values, 'values set must be empty for exists and does not exist')];
    case 'gt':
    case 'lt':
      return validateComparison(values, path);
  }
}

function validateComparison(values: readonly string[], path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (values.length !== 1) errors.push(FieldError.invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required"));
  values.forEach((value, i) => {
    if (parseInt64(value) !== undefined) return;
    errors.push(FieldError.invalid(path.index(i), value, "for 'Gt', 'Lt' operators, the value must be an integer"));
  });
  return errors;
}

/** An int64 in decimal, or nothing. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,4096}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/**
 * Compiles a requirement. A label is present if its value is a string: inherited properties (`constructor`) are not, so no own-property check is
 * needed.
 */
export function compileRequirement({ key, operator, values }: LabelRequirement): LabelPredicate {
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return compileIn(key, values);
    case '!=':
    case 'notin': {
      const isIn = compileIn(key, values);
      return (labels) => !isIn(labels);
    }
    case 'exists':
      return (labels) => typeof labels[key] === 'string';
    case '!':
      return (labels) => typeof labels[key] !== 'string';
    case 'gt':
    case 'lt':
      return compileComparison(key, values, operator);
  }
}

function compileIn(key: string, values: readonly string[]): LabelPredicate {
  const [only] = values;
  if (values.length === 1) return (labels) => labels[key] === only;
  const accepted = new Set(values);
  return (labels) => {
    const value = labels[key];
    return typeof value === 'string' && accepted.has(value);
  };
}

function compileComparison(key: string, values: readonly string[], operator: 'gt' | 'lt'): LabelPredicate {
  const limit = values.length === 1 ? parseInt64(values[0] ?? '') : undefined;
  if (limit === undefined) return () => false;
  return (labels) => {
    const label = labels[key];
    const value = typeof label === 'string' ? parseInt64(label) : undefined;
    if (value === undefined) return false;
    return operator === 'gt' ? value > limit : value < limit;
  };
}

const SYMBOLS: Readonly<Partial<Record<LabelOperator, string>>> = { gt: '>', lt: '<' };

export function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...values].sort(compareBytes).join(',')})`;
    default:
      return key + (SYMBOLS[operator] ?? operator) + [...values].sort(compareBytes).join(',');
  }
}
