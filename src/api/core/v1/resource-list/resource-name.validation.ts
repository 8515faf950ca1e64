import { checkQualifiedName, FieldError, type Path, Quantity } from '#machinery';
import { invalidErrors, nonNegativeQuantity } from '../../../field-checks.ts';
import {
  isExtendedResource,
  isIntegerResource,
  isNativeResource,
  isStandardContainerResource,
  isStandardQuotaResource,
  isStandardResource,
} from './resource-name.ts';

/** A resource name: a standard one, or one with a domain. */
export function validateResourceName(path: Path, name: string): readonly FieldError[] {
  const errors = invalidErrors(path, name, checkQualifiedName(name));
  if (errors.length > 0 || name.includes('/') || isStandardResource(name)) return errors;
  return [FieldError.invalid(path, name, 'must be a standard resource type or fully qualified')];
}

export function validateContainerResourceName(path: Path, name: string): readonly FieldError[] {
  const errors = validateResourceName(path, name);
  if (!name.includes('/')) {
    if (isStandardContainerResource(name)) return errors;
    return [...errors, FieldError.invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNativeResource(name) || isExtendedResource(name)) return errors;
  return [...errors, FieldError.invalid(path, name, "doesn't follow extended resource name standard")];
}

export function validateQuotaResourceName(path: Path, name: string): readonly FieldError[] {
  const errors = validateResourceName(path, name);
  if (name.includes('/') || isStandardQuotaResource(name)) return errors;
  return [...errors, FieldError.invalid(path, name, 'must be a standard resource for quota')];
}

/** A non-negative amount, integer for integer resources. */
export function validateResourceAmount(path: Path, name: string, amount: string): readonly FieldError[] {
  const errors = nonNegativeQuantity(path, amount);
  if (!isIntegerResource(name)) return errors;
  const quantity = Quantity.parse(amount);
  // Upstream compares milli-units.
  if (quantity.roundUp(-3).isMultipleOf(0)) return errors;
  return [...errors, FieldError.invalid(path, quantity.toString(), 'must be an integer')];
}
