import { type FieldError, goQuote, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { validateSet } from './bounded-items.ts';
import { validateCounters, validateDevice } from './device.validation.ts';
import { validateDriverName, validateLabelLike, validatePoolName } from './device-names.validation.ts';
import type { CounterSet, Device, ResourcePool, ResourceSlice, ResourceSliceSpec } from './resource-slice.ts';
import { validateSliceNodes } from './slice-nodes.validation.ts';

const MAX_DEVICES = 128;
/** The limit for devices that are more expensive to allocate. */
const MAX_INVOLVED_DEVICES = 64;
const MAX_COUNTER_SETS = 8;
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };
const SPEC = Path.of('spec');

export function validateResourceSlice({ metadata, spec }: ResourceSlice): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  validateSpec(spec ?? ({} as ResourceSliceSpec), FieldReport.on(SPEC, errors));
  return errors;
}

export function validateResourceSliceUpdate({ metadata, spec }: ResourceSlice, old: ResourceSlice): FieldError[] {
  const errors = validateObjectMetaUpdate(metadata, old.metadata);
  validateSpec(spec ?? ({} as ResourceSliceSpec), FieldReport.on(SPEC, errors), old.spec ?? ({} as ResourceSliceSpec));
  return errors;
}

function validateSpec(spec: ResourceSliceSpec, at: FieldReport, old?: ResourceSliceSpec): void {
  validateDriverName(spec.driver, at.child('driver'));
  validatePool(spec.pool ?? ({} as ResourcePool), at.child('pool'));
  if (old) at.add(validateSpecUpdate(spec, old));
  validateSliceNodes(spec, at);
  if (spec.sharedCounters && spec.devices) at.invalid('', 'only one of `sharedCounters` or `devices` is allowed');
  validateSet(spec.devices, at.child('devices'), {
    max: spec.devices?.some(isInvolved) ? MAX_INVOLVED_DEVICES : MAX_DEVICES,
    item: (device, at) => {
      const before = old?.devices?.find(({ name }) => name === device.name);
      validateDevice(device, at, { old: before, selectsNodes: spec.perDeviceNodeSelection === true });
    },
    keyOf: ({ name }) => name ?? '',
  });
  validateSet(spec.sharedCounters, at.child('sharedCounters'), {
    max: MAX_COUNTER_SETS,
    item: validateCounterSet,
    keyOf: ({ name }) => name ?? '',
  });
}

function validatePool({ name, resourceSliceCount = 0, generation = 0 }: ResourcePool, at: FieldReport): void {
  validatePoolName(name, at.child('name'));
  at.child('resourceSliceCount').positive(resourceSliceCount);
  if (generation < 0) at.child('generation').invalid(generation, 'must be greater than or equal to zero');
}

function validateSpecUpdate(spec: ResourceSliceSpec, old: ResourceSliceSpec): readonly FieldError[] {
  return [
    ...immutable(SPEC.child('pool', 'name'), { value: spec.pool?.name ?? '', old: old.pool?.name ?? '' }),
    ...immutable(SPEC.child('driver'), { value: spec.driver ?? '', old: old.driver ?? '' }),
    ...immutable(SPEC.child('nodeName'), { value: spec.nodeName, old: old.nodeName }),
  ];
}

function isInvolved({ taints = [], consumesCounters = [], attributes = {} }: Device): boolean {
  const hasLists = Object.values(attributes).some(({ bools, ints, strings, versions }) => bools ?? ints ?? strings ?? versions);
  return taints.length > 0 || consumesCounters.length > 0 || hasLists;
}

function validateCounterSet({ name, counters = {} }: CounterSet, at: FieldReport): void {
  if (name) validateLabelLike(name, at.child('name'));
  else at.child('name').required();
  validateCounters(counters, at.child('counters'));
}

export function resourceSliceWarnings({ spec }: ResourceSlice): readonly string[] {
  const driver = spec?.driver ?? '';
  if (driver === driver.toLowerCase()) return [];
  return [`spec.driver: driver names should be lowercase; ${goQuote(driver)} contains uppercase characters`];
}
