import { checkLabelValue, encodeJson, FieldError } from '#machinery';
import type { FieldReport } from '../../field-report.ts';
import { validateLabelName } from '../../meta/v1/label.validation.ts';
import { validateItems, validateSet } from './bounded-items.ts';
import type { OpaqueDeviceConfiguration } from './device-configuration.ts';
import { compileDeviceExpression, worstCostOf } from './device-expression.ts';
import { validateClassName, validateDriverName, validateFullName, validateLabelLike } from './device-names.validation.ts';
import type { DeviceSelector } from './device-selector.ts';
import type { DeviceToleration } from './device-toleration.ts';
import type { DeviceClaim, DeviceConstraint, DeviceRequest, DeviceSubRequest, ExactDeviceRequest } from './resource-claim-spec.ts';

export const MAX_REQUESTS = 32;
export const MAX_CONFIGS = 32;
const MAX_CONSTRAINTS = 32;
const MAX_ALTERNATIVES = 8;
const MAX_SELECTORS = 32;
const MAX_EXPRESSION_LENGTH = 10 * 1024;
const MAX_EXPRESSION_COST = 1_000_000;
const MAX_PARAMETERS = 10 * 1024;
const ALLOCATION_MODES = ['All', 'ExactCount'];
const OPERATORS = ['Equal', 'Exists'];
export const TAINT_EFFECTS = ['NoExecute', 'NoSchedule', 'None'];
const NOT_A_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

export function validateDeviceClaim(claim: DeviceClaim = {} as DeviceClaim, at: FieldReport): void {
  const names = requestNames(claim);
  validateSet(claim.requests ?? [], at.child('requests'), { max: MAX_REQUESTS, item: validateRequest, keyOf: ({ name }) => name ?? '' });
  validateItems(claim.constraints, at.child('constraints'), {
    max: MAX_CONSTRAINTS,
    item: (constraint, at) => validateConstraint(constraint, at, names),
  });
  validateItems(claim.config, at.child('config'), {
    max: MAX_CONFIGS,
    item: ({ requests, opaque }, at) => {
      validateRequestRefs(requests, at.child('requests'), names);
      validateConfiguration(opaque, at);
    },
  });
}

/** Names of requests, and of subrequests as `request/subrequest`. */
export function requestNames({ requests }: DeviceClaim = {} as DeviceClaim): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name = '', firstAvailable } of requests ?? []) {
    names.add(name);
    for (const alternative of firstAvailable ?? []) names.add(`${name}/${alternative.name ?? ''}`);
  }
  return names;
}

export function validateRequestRefs(refs: readonly string[] | undefined, at: FieldReport, names: ReadonlySet<string>): void {
  validateSet(refs, at, { max: MAX_REQUESTS, item: (ref, at) => validateRequestRef(ref, at, names), keyOf: (ref) => ref });
}

export function validateRequestRef(ref: string, at: FieldReport, names: ReadonlySet<string>): void {
  const parts = ref.split('/');
  if (parts.length > 2) {
    at.invalid(ref, NOT_A_REQUEST);
    return;
  }
  for (const part of parts) validateLabelLike(part, at);
  if (!names.has(ref)) at.invalid(ref, NOT_A_REQUEST);
}

function validateRequest({ name, exactly, firstAvailable = [] }: DeviceRequest, at: FieldReport): void {
  validateLabelLike(name, at.child('name'));
  if (exactly && firstAvailable.length > 0) {
    at.invalid(null, 'exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set');
  } else if (exactly) {
    validateExactRequest(exactly, at.child('exactly'));
  } else if (firstAvailable.length > 0) {
    const rules = { max: MAX_ALTERNATIVES, item: validateAlternative, keyOf: ({ name }: DeviceSubRequest) => name ?? '' };
    validateSet(firstAvailable, at.child('firstAvailable'), rules);
  } else {
    at.required('exactly one of `exactly` or `firstAvailable` is required');
  }
}

function validateAlternative(request: DeviceSubRequest, at: FieldReport): void {
  validateLabelLike(request.name, at.child('name'));
  validateExactRequest(request, at);
}

function validateExactRequest(request: ExactDeviceRequest, at: FieldReport): void {
  validateClassName(request.deviceClassName, at.child('deviceClassName'));
  validateSelectors(request.selectors, at.child('selectors'));
  validateAllocationMode(request, at);
  validateItems(request.tolerations, at.child('tolerations'), { item: validateToleration });
}

function validateAllocationMode({ allocationMode: mode = '', count = 0 }: ExactDeviceRequest, at: FieldReport): void {
  if (mode === 'ExactCount') at.child('count').positive(count);
  else if (mode !== 'All') at.child('allocationMode').notSupported(mode, ALLOCATION_MODES);
  else if (count !== 0) at.child('count').invalid(count, `must not be specified when allocationMode is '${mode}'`);
}

export function validateSelectors(selectors: readonly DeviceSelector[] | undefined, at: FieldReport): void {
  validateItems(selectors, at, {
    max: MAX_SELECTORS,
    item: ({ cel }, at) => {
      if (cel) validateExpression(cel.expression ?? '', at.child('cel').child('expression'));
      else at.child('cel').required();
    },
  });
}

function validateExpression(expression: string, at: FieldReport): void {
  if (Buffer.byteLength(expression) > MAX_EXPRESSION_LENGTH) {
    at.tooLong(MAX_EXPRESSION_LENGTH);
    return;
  }
  const result = compileDeviceExpression(expression);
  if (result.ok) {
    if (worstCostOf(result.program) > MAX_EXPRESSION_COST) at.forbidden('too complex, exceeds cost limit');
  } else if (result.stage === 'program') {
    at.add([FieldError.internalError(at.path, new Error(`program instantiation failed: ${result.message}`))]);
  } else {
    at.invalid(expression, result.stage === 'compile' ? `compilation failed: ${result.message}` : result.message);
  }
}

function validateConstraint(constraint: DeviceConstraint, at: FieldReport, names: ReadonlySet<string>): void {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  validateRequestRefs(requests, at.child('requests'), names);
  if (matchAttribute !== undefined) validateFullName(matchAttribute, at.child('matchAttribute'));
  else if (distinctAttribute !== undefined) validateFullName(distinctAttribute, at.child('distinctAttribute'));
  else at.required('exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set');
}

export function validateConfiguration(opaque: OpaqueDeviceConfiguration | undefined, at: FieldReport, isStored = false): void {
  const field = at.child('opaque');
  if (!opaque) {
    field.required();
    return;
  }
  validateDriverName(opaque.driver, field.child('driver'));
  validateRawObject(opaque.parameters, field.child('parameters'), isStored ? Number.POSITIVE_INFINITY : MAX_PARAMETERS);
}

/** Opaque parameters. The value is not printed in errors: it may be long. */
export function validateRawObject(value: unknown, at: FieldReport, maxLength: number): void {
  if (value === undefined || value === null) at.required();
  else if (Buffer.byteLength(encodeJson(value)) > maxLength) at.tooLong(maxLength);
  else if (typeof value !== 'object' || Array.isArray(value)) at.invalid('<value omitted>', 'must be a valid JSON object');
}

function validateToleration({ key, operator = '', value = '', effect }: DeviceToleration, at: FieldReport): void {
  if (key) at.add(validateLabelName(key, at.child('key').path));
  if (operator === '') at.child('operator').required();
  else if (!OPERATORS.includes(operator)) at.child('operator').notSupported(operator, OPERATORS);
  else if (operator === 'Equal') at.child('value').problems(value, checkLabelValue(value));
  else if (value !== '') at.child('value').invalid(value, 'must be empty for operator `Exists`');
  if (effect) at.child('effect').oneOf(effect, TAINT_EFFECTS);
}
