import { Quantity } from '#machinery';
import type { FieldReport } from '../../field-report.ts';
import { validateSet } from './bounded-items.ts';
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from './resource-slice.ts';

const MAX_OPTIONS = 10;

/** The valid amounts of a capacity request: only shared devices have them. */
export function validateCapacity({ value, requestPolicy }: DeviceCapacity, at: FieldReport, isShared: boolean): void {
  if (!requestPolicy) return;
  const field = at.child('requestPolicy');
  if (!isShared) field.forbidden('allowMultipleAllocations must be true');
  else validatePolicy(requestPolicy, field, Quantity.parse(value ?? '0'));
}

function validatePolicy(
  { default: preset, validValues = [], validRange }: CapacityRequestPolicy,
  at: FieldReport,
  capacity: Quantity,
): void {
  if (validValues.length > 0 && validRange) {
    at.forbidden('exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time');
    return;
  }
  const form = validValues.length > 0 ? 'validValues' : validRange ? 'validRange' : undefined;
  if (!form) return;
  if (preset === undefined || preset === null) {
    at.child('default').required(`required when ${form} is defined`);
    return;
  }
  const context = { preset: Quantity.parse(preset), capacity };
  if (validRange) validateRange(validRange, at.child(form), context);
  else validateOptions(validValues.map(Quantity.parse), at.child(form), context);
}

interface Amounts {
  /** The amount without a request. */
  readonly preset: Quantity;
  readonly capacity: Quantity;
}

function validateOptions(options: readonly Quantity[], at: FieldReport, { preset, capacity }: Amounts): void {
  options.slice(1).forEach((option, i) => {
    const isSorted = (options[i] as Quantity).compare(option) <= 0;
    if (!isSorted) at.index(i + 1).invalid(option.toString(), 'values must be sorted in ascending order');
  });
  validateSet(options, at, {
    max: MAX_OPTIONS,
    item: (option, at) => {
      if (option.compare(capacity) > 0) at.invalid(option.toString(), `option is larger than capacity value: ${capacity}`);
    },
    keyOf: (option) => String(option.bigValue()),
  });
  const hasPreset = options.length <= MAX_OPTIONS && options.some((option) => option.equals(preset));
  if (!hasPreset) at.invalid(preset.toString(), 'default value is not valid according to the requestPolicy');
}

function validateRange(range: CapacityRequestPolicyRange, at: FieldReport, amounts: Amounts): void {
  const { preset, capacity } = amounts;
  if (range.min === undefined || range.min === null) {
    at.child('min').required('required when validRange is defined');
    return;
  }
  const min = Quantity.parse(range.min);
  const field = at.child('min');
  if (min.compare(capacity) > 0) field.invalid(min.toString(), `min is larger than capacity value: ${capacity}`);
  if (preset.compare(min) < 0) field.invalid(preset.toString(), `default is less than min: ${min}`);
  const max = range.max === undefined ? undefined : Quantity.parse(range.max);
  if (max) validateMax(max, at.child('max'), { ...amounts, min });
  if (range.step !== undefined) validateStep(Quantity.parse(range.step), at.child('step'), { ...amounts, min, max });
}

function validateMax(max: Quantity, at: FieldReport, { preset, capacity, min }: Amounts & { readonly min: Quantity }): void {
  if (min.compare(max) > 0) at.invalid(min.toString(), `min is larger than max: ${max}`);
  if (max.compare(capacity) > 0) at.invalid(max.toString(), `max is larger than capacity value: ${capacity}`);
  if (preset.compare(max) > 0) at.invalid(preset.toString(), `default is more than max: ${max}`);
}

interface Bounds extends Amounts {
  readonly min: Quantity;
  readonly max: Quantity | undefined;
}

function validateStep(step: Quantity, at: FieldReport, { preset, capacity, min, max }: Bounds): void {
  const first = min.add(step);
  if (first.compare(capacity) > 0) at.invalid(step.toString(), `one step ${first} is larger than capacity value: ${capacity}`);
  for (const amount of max ? [preset, max] : [preset]) {
    if (isReached(amount, min, step)) continue;
    at.invalid(amount.toString(), `value is not a multiple of a given step (${step}) from (${min})`);
  }
}

/** A step of zero only allows its start. */
function isReached(amount: Quantity, min: Quantity, step: Quantity): boolean {
  const distance = amount.bigValue() - min.bigValue();
  const size = step.bigValue();
  return size === 0n ? distance === 0n : distance % size === 0n;
}
