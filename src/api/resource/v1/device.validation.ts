import { checkLabelValue } from '#machinery';
import { validateNodeSelector } from '../../core/v1/node-selector/node-selector.validation.ts';
import { isNativeResource } from '../../core/v1/resource-list/resource-name.ts';
import { markDuplicates, positiveQuantity, sameValue } from '../../field-checks.ts';
import type { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateLabelName } from '../../meta/v1/label.validation.ts';
import { validateEntries, validateItems, validateSet } from './bounded-items.ts';
import { validateCapacity } from './capacity.validation.ts';
import { SHOWN_NAME, validateLabelLike, validateQualifiedName } from './device-names.validation.ts';
import { TAINT_EFFECTS } from './device-request.validation.ts';
import { type Device, DeviceAttribute, type DeviceCounterConsumption, type DeviceTaint } from './resource-slice.ts';
import { validateNodeName } from './slice-nodes.validation.ts';

const MAX_ATTRIBUTES = 32;
const MAX_ATTRIBUTE_VALUES = 48;
const MAX_ATTRIBUTE_LENGTH = 64;
const MAX_TAINTS = 16;
const MAX_CONSUMPTIONS = 2;
const MAX_BINDING_CONDITIONS = 4;
export const MAX_COUNTERS = 32;
export const SHOWN_COUNTER = 63;
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

export interface DeviceContext {
  readonly old: Device | undefined;
  /** Whether node access is specified per device. */
  readonly selectsNodes: boolean;
}

export function validateDevice(device: Device, at: FieldReport, { old, selectsNodes }: DeviceContext): void {
  validateLabelLike(device.name, at.child('name'));
  validateNumbers(device, at);
  const names = { key: validateQualifiedName, shownKey: SHOWN_NAME };
  validateEntries(device.attributes, at.child('attributes'), { ...names, item: validateAttribute });
  const isShared = device.allowMultipleAllocations === true;
  validateEntries(device.capacity, at.child('capacity'), { ...names, item: (capacity, at) => validateCapacity(capacity, at, isShared) });
  if (!old || !sameValue(old.taints, device.taints)) {
    validateItems(device.taints, at.child('taints'), { max: MAX_TAINTS, item: (taint, at) => validateTaint(taint, at) });
  }
  validateSet(device.consumesCounters, at.child('consumesCounters'), {
    max: MAX_CONSUMPTIONS,
    item: validateConsumption,
    keyOf: ({ counterSet }) => counterSet ?? '',
  });
  validateReach(device, at, selectsNodes);
  validateBindingConditions(device, at);
  validateMappings(device, at.child('nodeAllocatableResourceMappings'));
}

function validateNumbers({ attributes = {}, capacity = {} }: Device, at: FieldReport): void {
  const names = Object.keys(attributes).length + Object.keys(capacity).length;
  if (names > MAX_ATTRIBUTES) at.invalid(names, `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES}`);
  let values = 0;
  for (const { bools = [], ints = [], strings = [], versions = [] } of Object.values(attributes)) {
    values += bools.length + ints.length + strings.length + versions.length || 1;
  }
  if (values > MAX_ATTRIBUTE_VALUES) at.invalid(values, `the total number of attribute values must not exceed ${MAX_ATTRIBUTE_VALUES}`);
}

const LISTS = ['bools', 'ints', 'strings', 'versions'] as const;
const ONE_VALUE = 'exactly one value must be specified';

function validateAttribute(attribute: DeviceAttribute, at: FieldReport): void {
  const { string, version } = attribute;
  if (string !== undefined) validateText(string, at.child('string'));
  if (version !== undefined) validateVersion(version, at.child('version'));
  for (const list of LISTS) {
    if (attribute[list]?.length === 0) at.child(list).invalid([], 'must not be empty if specified');
  }
  validateItems(attribute.strings, at.child('strings'), { item: validateText });
  validateItems(attribute.versions, at.child('versions'), { item: validateVersion });
  const setCount = Object.values(attribute).filter((value) => value !== undefined).length;
  if (setCount === 0) at.invalid('', ONE_VALUE);
  else if (setCount > 1) at.invalid(printedAttribute(attribute), ONE_VALUE);
}

/** Go's field names are IntValue, BoolValues and so on. */
function printedAttribute(attribute: DeviceAttribute): object {
  const members = Object.entries(goStruct(DeviceAttribute, attribute) ?? {});
  return Object.fromEntries(members.map(([name, value]) => [name.endsWith('s') ? `${name.slice(0, -1)}Values` : `${name}Value`, value]));
}

function validateText(text: string, at: FieldReport): void {
  if (Buffer.byteLength(text) > MAX_ATTRIBUTE_LENGTH) at.tooLong(MAX_ATTRIBUTE_LENGTH);
}

function validateVersion(text: string, at: FieldReport): void {
  if (!SEMVER.test(text)) at.invalid(text, 'must be a string compatible with semver.org spec 2.0.0');
  validateText(text, at);
}

/** An existing effect of a taint is not validated. */
export function validateTaint({ key, value = '', effect }: DeviceTaint, at: FieldReport, oldEffect?: string): void {
  at.add(validateLabelName(key, at.child('key').path));
  if (value !== '') at.child('value').problems(value, checkLabelValue(value));
  if (oldEffect !== undefined && effect === oldEffect) return;
  if (effect) at.child('effect').oneOf(effect, TAINT_EFFECTS);
  else at.child('effect').required();
}

function validateConsumption({ counterSet, counters = {} }: DeviceCounterConsumption, at: FieldReport): void {
  if (counterSet) validateLabelLike(counterSet, at.child('counterSet'));
  else at.child('counterSet').required();
  validateCounters(counters, at.child('counters'));
}

/** Any amount is fine. */
export function validateCounters(counters: Readonly<Record<string, unknown>>, at: FieldReport): void {
  if (Object.keys(counters).length === 0) at.required();
  else validateEntries(counters, at, { max: MAX_COUNTERS, key: validateLabelLike, item: () => {}, shownKey: SHOWN_COUNTER });
}

const ONE_OF =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
const NOT_HERE =
  '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

function validateReach({ nodeName, nodeSelector, allNodes }: Device, at: FieldReport, selectsNodes: boolean): void {
  if (!selectsNodes) {
    if (nodeName !== undefined || nodeSelector || allNodes !== undefined) at.invalid(null, NOT_HERE);
    return;
  }
  const present: string[] = [];
  if (nodeName) present.push('`nodeName`');
  if (nodeName) validateNodeName(nodeName, at.child('nodeName'));
  if (nodeName === '') at.child('nodeName').invalid('', 'must not be empty');
  if (nodeSelector) present.push('`nodeSelector`');
  if (nodeSelector) validateNodeSelector(nodeSelector, at.child('nodeSelector'));
  if (allNodes) present.push('`allNodes`');
  if (allNodes === false) at.child('allNodes').invalid(false, 'must be either unset or set to true');
  if (present.length === 0) at.required(ONE_OF);
  if (present.length > 1) at.invalid(`{${present.join(', ')}}`, ONE_OF);
}

interface Binding {
  readonly bindingConditions?: readonly string[] | undefined;
  readonly bindingFailureConditions?: readonly string[] | undefined;
}

/** The same without empty lists, which only matter for printing failures. */
export function withoutEmptyConditions<T extends Binding>(devices: readonly T[]): readonly T[] {
  const isEmpty = (conditions: readonly string[] | undefined) => conditions?.length === 0;
  if (!devices.some((device) => isEmpty(device.bindingConditions) || isEmpty(device.bindingFailureConditions))) return devices;
  return devices.map((device) => {
    const { bindingConditions: conditions, bindingFailureConditions: failures, ...rest } = device;
    return {
      ...rest,
      ...(conditions?.length && { bindingConditions: conditions }),
      ...(failures?.length && { bindingFailureConditions: failures }),
    } as T;
  });
}

/** Binding conditions and binding failure conditions: both or neither, without duplicates. */
export function validateBindingConditions(binding: Binding, at: FieldReport): void {
  const { bindingConditions = [], bindingFailureConditions = [] } = binding;
  const conditionsPath = at.child('bindingConditions');
  const failures = at.child('bindingFailureConditions');
  const rules = { max: MAX_BINDING_CONDITIONS, item: (name: string, at: FieldReport) => at.add(validateLabelName(name, at.path)) };
  validateItems(bindingConditions, conditionsPath, rules);
  validateItems(bindingFailureConditions, failures, rules);
  reportRepeated(bindingConditions, conditionsPath);
  reportRepeated(bindingFailureConditions, failures, (name, at) => {
    if (bindingConditions.includes(name)) at.invalid(name, 'bindingFailureConditions must not overlap with bindingConditions');
  });
  if (bindingConditions.length === 0 && bindingFailureConditions.length > 0) {
    conditionsPath.invalid(binding.bindingConditions ?? null, 'bindingConditions are required to use bindingFailureConditions');
  }
  if (bindingFailureConditions.length === 0 && bindingConditions.length > 0) {
    failures.invalid(binding.bindingFailureConditions ?? null, 'bindingFailureConditions are required to use bindingConditions');
  }
}

function reportRepeated(names: readonly string[], at: FieldReport, alsoCheck?: (name: string, at: FieldReport) => void): void {
  const repeated = markDuplicates(names);
  names.forEach((name, i) => {
    if (repeated[i]) at.index(i).duplicate(name);
    alsoCheck?.(name, at.index(i));
  });
}

function validateMappings({ nodeAllocatableResourceMappings: mappings = {}, capacity = {} }: Device, at: FieldReport): void {
  for (const [name, { allocationMultiplier: factor, capacityKey }] of Object.entries(mappings)) {
    const field = at.key(name);
    if (!isNativeResource(name)) field.invalid(name, 'must be a node allocatable resource name');
    if (factor === undefined && capacityKey === undefined) {
      field.invalid('', 'at least one of allocationMultiplier or capacityKey must be set');
      continue;
    }
    if (factor !== undefined) field.add(positiveQuantity(field.child('allocationMultiplier').path, factor));
    if (capacityKey === '') field.child('capacityKey').invalid('', 'capacityKey must not be an empty string');
    else if (capacityKey !== undefined && !Object.hasOwn(capacity, capacityKey)) field.child('capacityKey').notFound(capacityKey);
  }
}
