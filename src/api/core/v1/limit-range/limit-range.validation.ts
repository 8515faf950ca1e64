import { pushAll } from '#base';
import { checkQualifiedName, FieldError, itemErrors, nameIsDnsSubdomain, Path, Quantity } from '#machinery';
import { invalidErrors } from '../../../field-checks.ts';
import { validateObjectMeta } from '../../../meta/v1/object-meta.validation.ts';
import type { ResourceList } from '../resource-list/resource-list.ts';
import { isOvercommitAllowed } from '../resource-list/resource-name.ts';
import { validateContainerResourceName, validateResourceName } from '../resource-list/resource-name.validation.ts';
import type { LimitRange, LimitRangeItem } from './limit-range.ts';

const LIMIT_TYPES: readonly string[] = ['Pod', 'Container', 'PersistentVolumeClaim'];
const LIMITS = Path.of('spec', 'limits');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };
/** Beyond this, milli-units overflow 64 bits and upstream compares whole units. */
const MAX_MILLI_VALUE = (2n ** 63n - 1n) / 1000n;

export function validateLimitRange(limitRange: LimitRange): FieldError[] {
  const errors = validateObjectMeta(limitRange.metadata, META);
  const seen = new Set<string>();
  const ofItems = itemErrors(limitRange.spec?.limits ?? [], (item, i) => {
    const path = LIMITS.index(i);
    const repeated = seen.has(item.type) ? [FieldError.duplicate(path.child('type'), item.type)] : [];
    seen.add(item.type);
    return [...validateType(path.child('type'), item.type ?? ''), ...repeated, ...validateItem(path, item)];
  });
  return [...errors, ...ofItems];
}

function validateType(path: Path, type: string): readonly FieldError[] {
  const errors = invalidErrors(path, type, checkQualifiedName(type));
  if (errors.length > 0 || type.includes('/') || LIMIT_TYPES.includes(type)) return errors;
  return [FieldError.invalid(path, type, 'must be a standard limit type or fully qualified')];
}

function validateItem(path: Path, item: LimitRangeItem): FieldError[] {
  const names = (field: keyof LimitRangeItem & string) => validateNames(path.child(field), item.type, item[field] as ResourceList);
  const errors = [...names('max'), ...names('min')];
  if (item.type === 'Pod') pushAll(errors, validateNoDefaults(path, item));
  else pushAll(errors, names('default'), names('defaultRequest'));
  if (item.type === 'PersistentVolumeClaim' && !item.min?.storage && !item.max?.storage) {
    const message = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(FieldError.required(path.child('limits'), message));
  }
  pushAll(errors, names('maxLimitRequestRatio'));
  return [...errors, ...itemErrors([...resourceNames(item)], (name) => validateAmounts(path, name, item))];
}

function validateNames(path: Path, type: string, list: ResourceList | undefined): FieldError[] {
  const validate = type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName;
  return itemErrors(Object.keys(list ?? {}), (name) => validate(path.key(name), name));
}

function validateNoDefaults(path: Path, item: LimitRangeItem): FieldError[] {
  const fields = ['default', 'defaultRequest'] as const;
  const present = fields.filter((field) => Object.keys(item[field] ?? {}).length > 0);
  return present.map((field) => FieldError.forbidden(path.child(field), "may not be specified when `type` is 'Pod'"));
}

function resourceNames(item: LimitRangeItem): Set<string> {
  const defaults = item.type === 'Pod' ? [] : [item.default, item.defaultRequest];
  return new Set([item.max, item.min, ...defaults, item.maxLimitRequestRatio].flatMap((list) => Object.keys(list ?? {})));
}

interface Amounts {
  readonly min: Quantity | undefined;
  readonly max: Quantity | undefined;
  readonly limit: Quantity | undefined;
  readonly request: Quantity | undefined;
  readonly ratio: Quantity | undefined;
}

function amountsOf(name: string, item: LimitRangeItem): Amounts {
  const parse = (list: ResourceList | undefined) => (list && Object.hasOwn(list, name) ? Quantity.parse(list[name] ?? '0') : undefined);
  const isPod = item.type === 'Pod';
  return {
    min: parse(item.min),
    max: parse(item.max),
    limit: isPod ? undefined : parse(item.default),
    request: isPod ? undefined : parse(item.defaultRequest),
    ratio: parse(item.maxLimitRequestRatio),
  };
}

/** Whether `a` exceeds `b`, if both are set. */
function exceeds(a: Quantity | undefined, b: Quantity | undefined): boolean {
  return a !== undefined && b !== undefined && a.compare(b) > 0;
}

/** The required order: min ≤ request ≤ limit ≤ max. Two of upstream's messages show the bound instead of the value. */
function validateAmounts(path: Path, name: string, item: LimitRangeItem): FieldError[] {
  const amounts = amountsOf(name, item);
  const { min, max, limit, request } = amounts;
  const errors: FieldError[] = [];
  const addError = (field: string, quantity: Quantity | undefined, detail: string) =>
    errors.push(FieldError.invalid(path.child(field).key(name), `${quantity}`, detail));
  if (exceeds(min, max)) addError('min', min, `min value ${min} is greater than max value ${max}`);
  if (exceeds(min, request)) addError('defaultRequest', request, `min value ${min} is greater than default request value ${request}`);
  if (exceeds(request, max)) addError('defaultRequest', request, `default request value ${request} is greater than max value ${max}`);
  if (exceeds(request, limit)) {
    addError('defaultRequest', request, `default request value ${request} is greater than default limit value ${limit}`);
  }
  if (exceeds(min, limit)) addError('default', min, `min value ${min} is greater than default value ${limit}`);
  if (exceeds(limit, max)) addError('default', max, `default value ${limit} is greater than max value ${max}`);
  pushAll(errors, validateRatio(path.child('maxLimitRequestRatio').key(name), amounts));
  if (!isOvercommitAllowed(name) && limit && request && !limit.equals(request)) {
    addError('defaultRequest', request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`);
  }
  return errors;
}

const ONE = Quantity.of(1);

function validateRatio(path: Path, { ratio, min, max }: Amounts): FieldError[] {
  if (!ratio) return [];
  const errors = ratio.compare(ONE) < 0 ? [FieldError.invalid(path, `${ratio}`, `ratio ${ratio} is less than 1`)] : [];
  if (!min || !max) return errors;
  const fine = [ratio, min, max].every((amount) => amount.bigValue() < MAX_MILLI_VALUE);
  const ratioValue = fine ? ratio.milliValue() / 1000 : ratio.value();
  const limit = fine ? max.milliValue() / min.milliValue() : max.value() / min.value();
  if (ratioValue <= limit || Number.isNaN(limit)) return errors;
  return [...errors, FieldError.invalid(path, `${ratio}`, `ratio ${ratio} is greater than max/min = ${limit.toFixed(6)}`)];
}
